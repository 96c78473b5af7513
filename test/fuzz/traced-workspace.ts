import {spawnSync} from 'node:child_process';
import {cpSync, mkdirSync, mkdtempSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

let template: string | undefined;

/** Fill an empty folder with small files of every kind, and a repository whose settings name programs. */
export function fillWorkspace(folder: string): void {
  template ??= makeTemplate();
  cpSync(template, folder, {recursive: true, verbatimSymlinks: true});
}

/** Made once a process; removed when it ends by the caller's temporary folder being elsewhere. */
function makeTemplate(): string {
  const dir = mkdtempSync(join(tmpdir(), 'agentdir-trace-template-'));
  process.once('exit', () => spawnSync('rm', ['-rf', dir]));
  const run = (command: string, ...args: string[]): void => {
    spawnSync(command, args, {cwd: dir, env: {PATH: process.env.PATH, HOME: dir, LC_ALL: 'C'}});
  };
  mkdirSync(join(dir, 'dir'));
  for (const [name, text] of Object.entries({
    a: 'one 1\ntwo 2\nthree 3\n',
    b: 'one 1\ntwo 4\nfour 3\n',
    'dir/c': 'one\n',
    p: 'one\n',
    one: 'one\n',
    empty: '[]\n',
    'x.json': '{"a": [1, 2, {"b": "c"}]}\n',
    'y.json': '[]\n',
    'value-file': 'one\n',
  }))
    writeFileSync(join(dir, name), text);
  for (const name of ['helper', 'textconv', 'external-diff', 'gpg', 'pager', 'editor', 'ssh'])
    writeFileSync(join(dir, name), '#!/bin/sh\nexit 0\n', {mode: 0o755});
  run('tar', 'cf', 'x.tar', 'a', 'dir');
  run('tar', 'czf', 'x.tgz', 'a', 'dir');
  for (const [command, name] of [
    ['gzip', 'x.gz'],
    ['bzip2', 'x.bz2'],
    ['xz', 'x.xz'],
    ['zstd', 'x.zst'],
  ] as const)
    run('sh', '-c', `${command} -c a > ${name}`);
  run('python3', '-c', "import zipfile; z = zipfile.ZipFile('x.zip', 'w'); z.write('a'); z.writestr('member', 'x')");
  const git = (...args: string[]): void => run('git', '-c', 'user.name=a', '-c', 'user.email=a@b', ...args);
  git('init', '-q', '-b', 'main');
  git('add', 'a', 'b', 'dir');
  git('commit', '-qm', 'first');
  writeFileSync(join(dir, 'a'), 'one 1\ntwo 5\nthree 3\n');
  writeFileSync(join(dir, '.gitattributes'), '* diff=x filter=x\n');
  git('commit', '-qam', 'second');
  git('tag', 'v1');
  git('branch', 'other');
  writeFileSync(join(dir, 'b'), 'changed\n');
  git('stash', '-q');
  writeFileSync(join(dir, 'b'), 'changed again\n');
  // Signed commits make git start a program to check the signature.
  run('sh', '-c', `${signedCommit}`);
  for (const [name, value] of [
    ['diff.x.textconv', './textconv'],
    ['diff.x.command', './external-diff'],
    ['gpg.program', './gpg'],
    ['core.pager', './pager'],
    ['core.editor', './editor'],
    ['core.sshCommand', './ssh'],
    ['remote.origin.url', 'ssh://host.invalid/x'],
  ] as const)
    git('config', name, value);
  return dir;
}

/** Rewrites the last commit with a signature header. */
const signedCommit = String.raw`
git cat-file commit HEAD | sed '/^committer/a\
gpgsig -----BEGIN PGP SIGNATURE-----\
 x\
 -----END PGP SIGNATURE-----' > .git/signed &&
git update-ref refs/heads/main "$(git hash-object -t commit -w .git/signed)" && rm .git/signed`;
