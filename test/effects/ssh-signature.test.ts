import {execFileSync, spawnSync} from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, it, vi} from 'vitest';
import {signersPath} from '../../src/effects/signature/signers-file.ts';
import {sign, verifyBy, verifySignature} from '../../src/effects/signature/ssh-signature.ts';

const missing = spawnSync('ssh-keygen', ['-?']).error !== undefined;

describe.skipIf(missing)('signatures (skipped without ssh-keygen: apt-get install openssh-client)', () => {
  const text = '{"agentdir":"decision","id":"a1"}\n';
  const folder = mkdtempSync(join(tmpdir(), 'agentdir-keys-'));
  const key = (name: string) => join(folder, name);
  const publicKey = (name: string) =>
    readFileSync(key(`${name}.pub`), 'utf8')
      .split(' ')
      .slice(0, 2)
      .join(' ');
  const make = (name: string, passphrase = '') =>
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', passphrase, '-C', '', '-f', key(name)]);
  const signed = async (name: string, what = text): Promise<string> => {
    const made = await sign(what, key(name));
    return 'signature' in made ? made.signature : `failed: ${made.problem}`;
  };
  let signature = '';

  beforeAll(async () => {
    mkdirSync(key('tmp'));
    vi.stubEnv('TMPDIR', key('tmp'));
    for (const name of ['ada', 'eve']) make(name);
    make('locked', 'secret');
    signature = await signed('ada');
  });
  afterAll(() => {
    vi.unstubAllEnvs();
    rmSync(folder, {recursive: true, force: true});
  });

  it('is one line, and that of a signer', async () => {
    expect(signature).toMatch(/^[A-Za-z0-9+/]+=*$/);
    expect(await verifyBy(text, signature, `ada@example.org ${publicKey('ada')}\n`)).toEqual({by: 'ada@example.org'});
    writeFileSync(key('signers'), `# who decides\nbob,ada namespaces="agentdir" ${publicKey('ada')}\n`);
    expect(await verifySignature(text, signature, key('signers'))).toEqual({by: 'bob'});
  });

  it('counts for that text, by that key, and for nothing else', async () => {
    const signers = `ada ${publicKey('ada')}\n`;
    expect(await verifyBy(`${text} `, signature, signers)).toEqual({problem: expect.stringContaining('not for this')});
    expect(await verifyBy(text, await signed('eve'), signers)).toEqual({problem: expect.stringContaining('among')});
    expect(await verifyBy(text, signature, '')).toEqual({problem: expect.stringContaining('among the signers')});
    const git = execFileSync('ssh-keygen', ['-q', '-Y', 'sign', '-n', 'git', '-f', key('ada')], {
      input: text,
      encoding: 'utf8',
    });
    const body = git.split('\n').slice(1, -2).join('');
    expect(await verifyBy(text, body, signers)).toEqual({problem: expect.stringContaining('not for this')});
  });

  it('counts as the options of the signer say', async () => {
    const by = (options: string, at?: string) =>
      verifyBy(text, signature, `ada ${options} ${publicKey('ada')}\n`, at === undefined ? undefined : new Date(at));
    expect(await by('namespaces="git"')).toHaveProperty('problem');
    expect(await by('valid-before="20200101Z"')).toHaveProperty('problem');
    expect(await by('valid-after="20900101Z"')).toHaveProperty('problem');
    expect(await by('cert-authority')).toHaveProperty('problem');
    expect(await by('valid-before="20300101Z"', '2029-12-31T23:00:00.000Z')).toEqual({by: 'ada'});
    expect(await by('valid-before="20300101Z"', '2030-01-01T01:00:00.000Z')).toHaveProperty('problem');
  });

  it('is refused in words if it is none', async () => {
    const odd = ['', 'AAAA', 'not base64!', '-----BEGIN SSH SIGNATURE-----', 'U1NIU0lH', 'U1NIU0lH'.repeat(10_000)];
    for (const one of odd)
      expect(await verifyBy(text, one, `ada ${publicKey('ada')}\n`)).toEqual({problem: expect.any(String)});
  });

  it('is not made with a key that cannot be used, and says why', async () => {
    expect(await sign(text, key('nobody'))).toEqual({problem: expect.stringContaining('there is no key')});
    expect(await sign(text, publicKey('ada'))).toEqual({problem: expect.stringContaining('ssh-add')});
  });

  it.skipIf(hasTerminal())('does not wait for a passphrase where nobody can be asked', async () => {
    expect(await sign(text, key('locked'))).toEqual({problem: expect.stringContaining('has a passphrase')});
  });

  it('leaves nothing behind', () => {
    expect(readdirSync(join(folder, 'tmp'))).toEqual([]);
  });

  it('needs signers where no agent can write', () => {
    const home = join(folder, 'home');
    mkdirSync(join(home, 'workspaces/a'), {recursive: true});
    symlinkSync('workspaces/a', join(home, 'keys'));
    expect(signersPath(home, 'signers')).toEqual({path: expect.stringContaining('home/signers')});
    for (const path of ['workspaces/a/signers', './workspaces/../workspaces/a/s', 'keys/signers'])
      expect(signersPath(home, path)).toEqual({problem: expect.stringContaining('workspace')});
    symlinkSync(key('signers'), join(home, 'link'));
    expect(signersPath(home, 'gone/signers')).toHaveProperty('problem');
  });

  it('needs signers in a regular file', async () => {
    for (const path of ['home/link', 'home', 'gone'])
      expect(await verifySignature(text, signature, key(path))).toEqual({
        problem: expect.stringContaining('file of signers'),
      });
  });
});

function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}
