import {spawn, spawnSync} from 'node:child_process';
import {existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {parseSession} from '../../src/formats/session/session.ts';
import {blobId} from '../../src/home/git/blob-id.ts';
import {agentdir, environment, git, main, put, until} from '../cli/run.ts';
import {ASKER, decideFor, expectOnce, isOver, persistent, questionFor} from './approval-scenes.ts';
import {askedBy} from './deciding.ts';
import {rebooted, recordedAndKilled} from './recorded.ts';
import {read, serve, settled, spawnDaemon} from './serve.ts';
import {expectSound, filesIn, homes} from './sound.ts';
import {pathOf} from './talk.ts';

const newHome = homes({'memory/old.md': 'old\n'});
/** Nobody is to answer: only what happens to the file is of interest. */
const LEAST = 'agent_id: planner-001\nstatus: paused\nmessages:\n  - role: user\n    content: one\n';
const SESSION = 'sessions/s.session.yaml';
const message = (words: string) => `  - role: user\n    content: ${words}\n`;
const wordsOf = (text: string) => parseSession(text).messages.map(({content}) => content);
const once = async (home: string, code = 0) => {
  const run = await agentdir(home, ['start', '--once']);
  expect(run, run.stdout).toMatchObject({code, stderr: ''});
};

describe('a save from a stale buffer while no daemon runs', () => {
  it('is merged with what git has, however old the cache is', async () => {
    const home = newHome();
    put(home, {[SESSION]: LEAST});
    await once(home);
    const cache = readFileSync(join(home, '.agentdir/cache.json'));
    const first = read(home, SESSION);
    put(home, {[SESSION]: first + message('two')});
    await once(home);
    const second = read(home, SESSION);
    put(home, {[SESSION]: second + message('three')});
    await once(home);
    // As if the last daemon had been killed before it could write down what it knew.
    writeFileSync(join(home, '.agentdir/cache.json'), cache);
    put(home, {[SESSION]: second.replace('content: one', 'content: ONE')});
    await once(home);
    expect(wordsOf(read(home, SESSION))).toEqual(['ONE', 'two', 'three']);
    await expectSound(home);
  });
});

describe('a save from a stale buffer that has errors when a daemon starts', () => {
  it.each(['while that runs', 'before the next one starts'])('is merged when it is mended, %s', async when => {
    const home = newHome();
    put(home, {[SESSION]: LEAST});
    await once(home);
    const first = read(home, SESSION);
    put(home, {[SESSION]: first + message('two')});
    await once(home);
    const stale = first.replace('content: one', 'content: ONE');
    put(home, {[SESSION]: `${stale}\n  broken: [\n`});
    if (when === 'while that runs') {
      const {stop} = await serve(home);
      put(home, {[SESSION]: stale});
      await settled(home, SESSION, text => text.includes('two'));
      await stop();
    } else {
      await once(home, 4);
      put(home, {[SESSION]: stale});
      await once(home);
    }
    expect(wordsOf(read(home, SESSION))).toEqual(['ONE', 'two']);
  });
});

describe('a git reset while no daemon runs', () => {
  it('removes commits, but not their authors: the next daemon commits the versions again', async () => {
    const home = newHome();
    put(home, {[SESSION]: LEAST});
    await once(home);
    const first = read(home, SESSION);
    put(home, {[SESSION]: first + message('two')});
    await once(home);
    const last = read(home, SESSION);
    const history = () => git(home, 'log', '--format=%an: %s', '--', SESSION);
    const before = await history();
    await git(home, 'reset', '-q', 'HEAD~1');
    await once(home);
    expect(await history()).toBe(before);
    const [start = ''] = (await git(home, 'rev-list', '--reverse', 'HEAD')).split('\n');
    await git(home, 'reset', '-q', start);
    await once(home);
    expect(await history()).toBe(before);
    expect(read(home, SESSION)).toBe(last);
    await expectSound(home);
  });

  it('that removed a file is not undone by a power cut', async () => {
    const home = newHome();
    put(home, {'memory/new.md': 'new\n'});
    await once(home);
    await git(home, 'reset', '-q', '--hard', 'HEAD~1');
    await once(home);
    rebooted(home);
    await once(home);
    expect(existsSync(join(home, 'memory/new.md'))).toBe(false);
    await expectSound(home);
  });
});

const ANSWER = "  - timestamp: '2026-01-01T00:00:01.000Z'\n    role: assistant\n    model: fake\n    content: done\n";

describe('killed before its last version was committed', () => {
  /** A home, what git has of a session, and what a killed daemon made of it: recorded, in the file, and not in git. */
  const killed = async () => {
    const home = newHome();
    put(home, {[SESSION]: LEAST});
    await once(home);
    const first = read(home, SESSION);
    const last = first.replace(/^updated: .*/m, "updated: '2036-01-01T00:00:00.000Z'") + ANSWER;
    await recordedAndKilled(home, SESSION, last);
    put(home, {[SESSION]: last});
    return {home, first, last};
  };
  const authors = async (home: string) =>
    (await git(home, 'log', '--format=%an: %s', '--', SESSION)).trim().split('\n');

  it('it is not undone by a buffer from before it, though nothing but that is in the file', async () => {
    const {home, first} = await killed();
    put(home, {[SESSION]: first + message('two')});
    await once(home);
    expect(wordsOf(read(home, SESSION))).toEqual(['one', 'done', 'two']);
    expect(await authors(home)).toContain('planner-001: session(s): answered');
    await expectSound(home);
  });

  it('nor by one that the person has committed, and gone on from', async () => {
    const {home, first} = await killed();
    put(home, {[SESSION]: first + message('two')});
    await git(home, 'commit', '-qam', 'mine');
    put(home, {[SESSION]: first + message('two') + message('three')});
    await git(home, 'commit', '-qam', 'mine, too');
    await once(home);
    expect(wordsOf(read(home, SESSION))).toEqual(['one', 'done', 'two', 'three']);
    await expectSound(home);
  });

  it('what a person wrote below it is theirs, and nothing else is', async () => {
    const {home, last} = await killed();
    put(home, {[SESSION]: last + message('two')});
    await once(home);
    expect(wordsOf(read(home, SESSION))).toEqual(['one', 'done', 'two']);
    expect((await authors(home)).slice(1, 3)).toEqual([
      'Ada: session(s): user message by hand',
      'planner-001: session(s): answered',
    ]);
    await expectSound(home);
  });

  it('what git has is brought back by a person, and stays', async () => {
    const {home, first} = await killed();
    put(home, {[SESSION]: first.replace('content: one', 'content: ONE')});
    await git(home, 'add', SESSION);
    await once(home);
    expect(wordsOf(read(home, SESSION))).toEqual(['ONE']);
    await expectSound(home);
  });
});

describe('killed after a version was recorded, and before the file had it', () => {
  it.each([
    ['the file gets it', (text: string) => text, ['one']],
    ['what a person wrote since is merged', (text: string) => text + message('two'), ['one', 'two']],
  ])('%s', async (_, edit, words) => {
    const home = newHome();
    const daemon = spawnDaemon(home, {AGENTDIR_CRASH_AT: 'version-sync:1'});
    put(home, {[SESSION]: LEAST});
    expect(await daemon.exited).toBe('SIGKILL');
    expect(read(home, SESSION)).toBe(LEAST);
    put(home, {[SESSION]: edit(LEAST)});
    await once(home);
    expect(wordsOf(read(home, SESSION))).toEqual(words);
    const log = (await git(home, 'log', '--reverse', '--format=%an: %s', '--', SESSION)).trim().split('\n');
    expect(log.slice(0, 2)).toEqual(['Ada: session(s): created by hand', expect.stringMatching(/^agentdir: /)]);
    await expectSound(home);
  });
});

describe('a home that version 0.1 served last, killed before its last version was committed', () => {
  const nameOf = (path: string, base: string, next: string, nth: number) => {
    const ids = [base, next].map(text => blobId(Buffer.from(text)));
    return `.agentdir/replaced/${ids[0]}.1-2-${nth}.${ids[1]?.slice(0, 16)}.${Buffer.from(path).toString('base64url')}`;
  };
  const left = async () => {
    const home = newHome();
    put(home, {[SESSION]: LEAST});
    await once(home);
    const first = read(home, SESSION);
    const last = first.replace(/^updated: .*/m, "updated: '2036-01-01T00:00:00.000Z'") + ANSWER;
    rmSync(join(home, '.agentdir'), {recursive: true});
    const copy = Buffer.concat([
      Buffer.from(`${blobId(Buffer.from(last))} ${Buffer.byteLength(last)} "${SESSION}"\n`),
      Buffer.from(last),
    ]);
    put(home, {
      [nameOf(SESSION, first, last, 3)]: first,
      '.agentdir/aside/1': copy.toString(),
      '.agentdir/used': 'since 2026\nx\n',
    });
    return {home, first, last};
  };

  it.each(['in the file', 'saved over from an older buffer'])('it is recorded as the daemon’s: %s', async where => {
    const {home, first, last} = await left();
    put(home, {[SESSION]: where === 'in the file' ? last : first + message('two')});
    await once(home);
    const words = where === 'in the file' ? ['one', 'done'] : ['one', 'done', 'two'];
    expect(wordsOf(read(home, SESSION)).sort()).toEqual(words.sort());
    expect(await git(home, 'log', '--format=%an: %s')).toContain('agentdir: session(s): as the daemon left it');
    expect(readdirSync(join(home, '.agentdir/aside'))).toEqual([]);
    await expectSound(home);
  });

  it('and finds its way where two versions were made from each other', async () => {
    const home = newHome();
    const [path, a, b] = ['memory/old.md', 'a\n', 'b\n'];
    put(home, {[path]: a, [nameOf(path, a, b, 1)]: a, [nameOf(path, b, a, 2)]: b});
    await once(home);
    expect(await git(home, 'show', `HEAD:${path}`)).toBe(a);
    await expectSound(home);
  });
});

describe('killed between the index and the branch', () => {
  const crash = async (home: string, files: Record<string, string>) => {
    const daemon = spawnDaemon(home, {AGENTDIR_CRASH_AT: 'journal-index-rename:1'});
    put(home, files);
    expect(await daemon.exited).toBe('SIGKILL');
  };

  it('a new file that is removed before the next start does not stay in the index', async () => {
    const home = newHome();
    await crash(home, {'memory/new.md': 'new\n'});
    rmSync(join(home, 'memory/new.md'));
    await once(home);
    await expectSound(home);
  });

  it('nor an edit that is taken back', async () => {
    const home = newHome();
    await crash(home, {'memory/old.md': 'old\nnew\n'});
    put(home, {'memory/old.md': 'old\n'});
    await once(home);
    expect(read(home, 'memory/old.md')).toBe('old\n');
    await expectSound(home);
  });

  it('what the person staged meanwhile stays staged', async () => {
    const home = newHome();
    put(home, {'notes.txt': 'mine\n'});
    await git(home, 'add', 'notes.txt');
    await crash(home, {'memory/new.md': 'new\n'});
    await once(home);
    expect(await git(home, 'status', '--porcelain')).toBe('A  notes.txt\n');
    expect(await git(home, 'show', 'HEAD:memory/new.md')).toBe('new\n');
  });
});

describe('bytes that went into a file which was replaced', () => {
  /** A crash right after the rename of a save; `late` was written into the file it replaced. */
  const crash = async (home: string, late: (text: string) => string): Promise<void> => {
    put(home, {[SESSION]: LEAST});
    expect(await spawnDaemon(home, {AGENTDIR_CRASH_AT: 'save-rename:1'}).exited).toBe('SIGKILL');
    const folder = join(home, '.agentdir/replaced');
    const [name = ''] = readdirSync(folder);
    writeFileSync(join(folder, name), late(readFileSync(join(folder, name), 'utf8')));
  };

  it('are merged at the next start', async () => {
    const home = newHome();
    await crash(home, text => text + message('late'));
    await once(home);
    expect(wordsOf(read(home, SESSION))).toEqual(['one', 'late']);
    await expectSound(home);
  });

  it('are kept in conflicts/ where the file itself has errors, which is not touched', async () => {
    const home = newHome();
    await crash(home, text => text + message('late'));
    const wrong = 'agent_id: [\n';
    put(home, {[SESSION]: wrong});
    await once(home, 4);
    expect(read(home, SESSION)).toBe(wrong);
    const kept = Object.entries(filesIn(home)).filter(([path]) => path.startsWith('conflicts/'));
    expect(kept.map(([, text]) => text)).toEqual([LEAST + message('late')]);
    expect(await git(home, 'status', '--porcelain')).toBe('');
  });

  it('are kept in conflicts/ where the file itself is gone', async () => {
    const home = newHome();
    await crash(home, text => text + message('late'));
    rmSync(join(home, SESSION));
    await once(home, 4);
    expect(existsSync(join(home, SESSION))).toBe(false);
    const kept = Object.entries(filesIn(home)).filter(([path]) => path.startsWith('conflicts/'));
    expect(kept.map(([, text]) => text)).toEqual([LEAST + message('late')]);
    expect(await git(home, 'status', '--porcelain')).toBe('');
  });

  it('an edit that was taken back later is no such thing: the crash came before the rename', async () => {
    const home = newHome();
    put(home, {[SESSION]: LEAST});
    expect(await spawnDaemon(home, {AGENTDIR_CRASH_AT: 'save-keep:1'}).exited).toBe('SIGKILL');
    put(home, {[SESSION]: LEAST + message('wrong')});
    writeFileSync(join(home, `${SESSION}~`), LEAST + message('right'));
    renameSync(join(home, `${SESSION}~`), join(home, SESSION));
    await once(home);
    expect(wordsOf(read(home, SESSION))).toEqual(['one', 'right']);
    await expectSound(home);
  });
});

describe('what a killed save left', () => {
  it('is removed at the next start, and nothing else', async () => {
    const home = newHome();
    put(home, {[SESSION]: LEAST, 'sessions/.agentdir-1-1-1.mine': 'mine\n'});
    const left = () => readdirSync(join(home, 'sessions')).filter(name => name.startsWith('.agentdir-'));
    expect(await spawnDaemon(home, {AGENTDIR_CRASH_AT: 'save-fsync:1'}).exited).toBe('SIGKILL');
    expect(left()).toHaveLength(2);
    await once(home);
    expect(left()).toEqual(['.agentdir-1-1-1.mine']);
  });

  it("is put back if it is an editor's file, which came while the daemon's took its place", async () => {
    const home = newHome();
    const blob = (text: string) => blobId(Buffer.from(text));
    const [path, before, ours, theirs] = ['memory/old.md', 'old\n', 'ours\n', 'theirs\n'];
    const id = '4194303-1-0';
    const link = `${blob(before)}.${id}.${blob(ours).slice(0, 16)}.${Buffer.from(path).toString('base64url')}`;
    put(home, {[`.agentdir/replaced/${link}`]: before, [`memory/.agentdir-${id}.tmp`]: theirs, [path]: ours});
    await once(home);
    expect(read(home, path)).toBe(theirs);
    expect(readdirSync(join(home, 'memory')).filter(name => name.startsWith('.agentdir-'))).toEqual([]);
    await expectSound(home);
  });

  it('is left alone while its process lives', async () => {
    const home = newHome();
    const stat = readFileSync(`/proc/${process.pid}/stat`, 'utf8');
    const began = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    const name = `memory/.agentdir-${process.pid}-${began}-0.tmp`;
    put(home, {[name]: 'half'});
    await once(home);
    expect(read(home, name)).toBe('half');
  });
});

describe('killed after a save, before its commit', () => {
  it.each(['delivery:1', 'journal-ref-rename:2', 'turn-ask:1', 'turn-answer:1'])(
    "a session that it made is not committed as the person's (%s)",
    async crashAt => {
      const home = newHome();
      put(home, {'tasks/t.task.md': '- [ ] @planner-001 "say hello"\n  id: hello\n'});
      const {exited} = spawnDaemon(home, {AGENTDIR_CRASH_AT: crashAt});
      expect(await exited).toBe('SIGKILL');
      await once(home);
      const log = await git(home, 'log', '--format=%an: %s', '--', 'sessions/planner-001');
      expect(log).not.toBe('');
      expect(log).not.toMatch(/by hand|^Ada/m);
    },
  );

  it("what the daemon wrote is not committed as the person's, and what they saved is", async () => {
    const home = newHome();
    const daemon = spawnDaemon(home, {AGENTDIR_CRASH_AT: 'save-rename:1'});
    put(home, {[SESSION]: LEAST});
    expect(await daemon.exited).toBe('SIGKILL');
    expect(read(home, SESSION)).toContain('timestamp:');
    await once(home);
    expect((await git(home, 'log', '-2', '--format=%an: %s')).trim().split('\n')).toEqual([
      expect.stringMatching(/^agentdir: session\(s\): /),
      'Ada: session(s): created by hand',
    ]);
    expect(await git(home, 'show', `HEAD~1:${SESSION}`)).toBe(LEAST);
    // The person's editor still has what they saved.
    const times = read(home, SESSION).match(/timestamp: .*/g);
    put(home, {[SESSION]: LEAST + message('two')});
    await once(home);
    expect(wordsOf(read(home, SESSION))).toEqual(['one', 'two']);
    expect(read(home, SESSION)).toContain(times?.[0] ?? 'no time');
    await expectSound(home);
  });
});

describe('killed while it took a page away', () => {
  const box = ['--dev-bind', '/', '/', '--unshare-pid', '--proc', '/proc', '--die-with-parent'];
  const hasBox = spawnSync('bwrap', [...box, 'true']).status === 0;
  /** As in a container: every daemon has the same process id. */
  const contain = (home: string, env: NodeJS.ProcessEnv) => {
    const child = spawn('bwrap', [...box, process.execPath, main, 'start'], {cwd: home, env: {...environment, ...env}});
    const ended = new Promise<number | null>(resolve => child.once('close', resolve));
    let said = '';
    child.stdout.on('data', data => {
      said += data;
    });
    const isOver = () => child.exitCode !== null || child.signalCode !== null;
    const isServing = () => said.includes('serving');
    const kill = () => {
      child.kill('SIGKILL');
      return ended;
    };
    onTestFinished(async () => void (await kill()));
    return {ended, isOver, isServing, kill};
  };

  it.runIf(hasBox).each(['remove:1', 'remove:2'])(
    '(%s) a daemon with the same id does it, and nothing is left',
    async at => {
      const model = await persistent();
      onTestFinished(() => model.close());
      const home = newHome();
      const env = {OPENAI_BASE_URL: model.url};
      put(home, {...ASKER, [pathOf('a')]: questionFor('a', 'a file')});
      const first = contain(home, {...env, AGENTDIR_CRASH_AT: at});
      await askedBy(home, 'a');
      // Its page may still have to be made: then there is nothing to decide before that.
      await until(() => {
        decideFor(home, 'a', 'a file');
        return first.isOver();
      }, Boolean);
      expect(await first.ended).toBe(128 + 9);
      const second = contain(home, env);
      // If the call had begun, it was interrupted, and is asked about once more.
      const decide = () => {
        decideFor(home, 'a', 'a file');
        return isOver(home, 'a');
      };
      await until(decide, Boolean);
      // Killed before it has set up the box, bubblewrap leaves behind what is in it.
      await until(second.isServing, Boolean);
      await second.kill();
      await once(home);
      expectOnce(home, 'a', 'a file');
      const inTheWay = readdirSync(join(home, '.agentdir'), {recursive: true}).filter(name =>
        `${name}`.includes('approv'),
      );
      expect(inTheWay).toEqual([]);
      expect(await git(home, 'log', '--format=%s', '--', 'approvals/approved')).not.toMatch(/by hand/);
      await expectSound(home);
    },
  );
});
