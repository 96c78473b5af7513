import {chmodSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {agentdir, git, put} from '../cli/run.ts';
import {read} from './serve.ts';
import {expectSound, homes} from './sound.ts';

const COMPLETE = `session_id: s
agent_id: planner-001
agent_type: planner
model: default
system_prompt: You plan.
created: '2025-10-04T10:05:00.000Z'
updated: '2025-10-04T10:06:00.000Z'
status: sleeping
messages:
  - timestamp: '2025-10-04T10:05:23.000Z'
    role: user
    from: human
    content: one
  - timestamp: '2025-10-04T10:06:00.000Z'
    role: assistant
    content: two
`;
const SESSION = 'sessions/s.session.yaml';
const NOTE = 'memory/note.md';
const newHome = homes({[SESSION]: COMPLETE, [NOTE]: 'one\n'});

const once = async (home: string, code = 0) =>
  expect(await agentdir(home, ['start', '--once'])).toMatchObject({code, stderr: ''});
const head = async (home: string) => (await git(home, 'rev-parse', 'HEAD')).trim();
const commit = async (home: string, text: string) => {
  put(home, {[NOTE]: text});
  await git(home, 'commit', '-q', '-m', 'mine', '--', NOTE);
};
const cacheOf = (home: string) => join(home, '.agentdir/cache.json');
/** What the cache says, changed. */
const falsify = (home: string, change: (cache: {version: string; value: Record<string, unknown>}) => void) => {
  const cache = JSON.parse(readFileSync(cacheOf(home), 'utf8'));
  change(cache);
  writeFileSync(cacheOf(home), JSON.stringify(cache));
};

describe('what HEAD held when the cache was written', () => {
  const moves: Record<string, (home: string) => Promise<unknown>> = {
    'a commit': home => commit(home, 'two\n'),
    'a commit, and the file as it was before it': async home => {
      await commit(home, 'two\n');
      put(home, {[NOTE]: 'one\n'});
    },
    'a commit that is taken back again': async home => {
      await commit(home, 'two\n');
      await git(home, 'reset', '-q', '--soft', 'HEAD~');
    },
    'another branch without the file': async home => {
      await git(home, 'checkout', '-q', '-b', 'other');
      await git(home, 'rm', '-q', NOTE);
      await git(home, 'commit', '-q', '-m', 'gone');
    },
    'a history without the old commit': async home => {
      await git(home, 'checkout', '-q', '--orphan', 'new');
      await git(home, 'commit', '-q', '-m', 'all of it');
      await git(home, 'branch', '-q', '-D', 'main', 'master').catch(() => {});
      await git(home, 'reflog', 'expire', '--expire=now', '--all');
      await git(home, 'gc', '-q', '--prune=now');
    },
    'a commit of the mode alone, and the file not': async home => {
      await git(home, 'update-index', '--chmod=+x', NOTE);
      await git(home, 'commit', '-q', '-m', 'mode');
    },
    'a commit of the mode, and the file': async home => {
      chmodSync(join(home, NOTE), 0o755);
      await git(home, 'commit', '-q', '-am', 'mode');
    },
    'a mode alone': async home => chmodSync(join(home, NOTE), 0o755),
    'an edit alone': async home => put(home, {[NOTE]: 'three\n'}),
    'a removal alone': async home => rmSync(join(home, NOTE)),
  };
  for (const [what, move] of Object.entries(moves).filter((_, i) => process.env.FUZZ || i % 2 === 0))
    it(`gives the same history as no cache: ${what}`, async () => {
      const [cached, cold] = [newHome(), newHome()];
      const logs: string[] = [];
      for (const home of [cached, cold]) {
        await once(home);
        await move(home);
        if (home === cold) rmSync(join(home, '.agentdir'), {recursive: true});
        await once(home);
        if (home === cached) await expectSound(home);
        expect(await git(home, 'status', '--porcelain')).toBe('');
        logs.push(await git(home, 'log', '--format=%s %T', '--', '.'));
      }
      expect(logs[0]).toBe(logs[1]);
    });
});

describe('a cache that is not what it should be', () => {
  const wrongs: Record<string, (home: string) => void> = {
    'cut off': home => writeFileSync(cacheOf(home), readFileSync(cacheOf(home)).subarray(0, -50)),
    'of another version': home => falsify(home, cache => Object.assign(cache, {version: '0.0.0/1'})),
    'of another form': home => falsify(home, cache => Object.assign(cache, {value: {rows: 1}})),
    'of a commit that never was': home =>
      falsify(home, ({value}) => Object.assign(value, {commit: '1'.repeat(40), otherwise: [[NOTE, '2'.repeat(40)]]})),
    'of a home elsewhere': home =>
      falsify(home, ({value}) => Object.assign(value, {prefix: 'deep/', otherwise: [[NOTE, null]]})),
    'of files that are gone': home => renameSync(join(home, SESSION), join(home, 'sessions/t.session.yaml')),
  };
  for (const [what, wrong] of Object.entries(wrongs))
    it(`is of no consequence: ${what}`, async () => {
      const home = newHome();
      await once(home);
      const before = await head(home);
      wrong(home);
      const moved = what === 'of files that are gone';
      await once(home, moved ? 4 : 0);
      if (!moved) expect(await head(home)).toBe(before);
      expect(await git(home, 'status', '--porcelain')).toBe('');
    });
});

describe('a start without a cache', () => {
  it('commits nothing if all is as git has it', async () => {
    const home = newHome();
    const before = await head(home);
    await once(home);
    expect(await head(home)).toBe(before);
    await expectSound(home);
  });

  it('sees that a session became a link, though its text is the same', async () => {
    const home = newHome();
    writeFileSync(join(home, '..', 'elsewhere.yaml'), COMPLETE);
    rmSync(join(home, SESSION));
    symlinkSync('../../elsewhere.yaml', join(home, SESSION));
    await once(home);
    expect(read(home, SESSION)).toBe(COMPLETE);
    expect(await git(home, 'ls-tree', 'HEAD', SESSION)).toMatch(/^120000 blob/);
    expect(await git(home, 'status', '--porcelain')).toBe('');
  });

  it('sees that a session was made executable, though its text is the same', async () => {
    const home = newHome();
    chmodSync(join(home, SESSION), 0o755);
    await once(home);
    expect(await git(home, 'ls-tree', 'HEAD', SESSION)).toMatch(/^100755 blob/);
    expect(await git(home, 'log', '-1', '--format=%an: %s')).toContain('made executable by hand');
    await once(home);
    chmodSync(join(home, SESSION), 0o644);
    rmSync(join(home, '.agentdir'), {recursive: true});
    await once(home);
    expect(await git(home, 'ls-tree', 'HEAD', SESSION)).toMatch(/^100644 blob/);
    await expectSound(home);
  });

  it('completes a session that is in git and lacks something', async () => {
    const home = newHome();
    put(home, {[SESSION]: COMPLETE.replace('status: sleeping\n', '')});
    await git(home, 'commit', '-q', '-am', 'less');
    await once(home);
    expect(read(home, SESSION)).toMatch(/^status: /m);
    await expectSound(home);
  });
});
