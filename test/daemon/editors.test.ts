import {execFile} from 'node:child_process';
import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {describe, expect, it} from 'vitest';
import {parseSession} from '../../src/formats/session/session.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {environment, git, newHome} from '../cli/run.ts';
import {committed, type Event, read, type Served, serve, settled} from './serve.ts';
import {installed, type Terminal, terminal} from './terminal.ts';

const ESCAPE = '\u001b';
const TASKS = 'tasks/t.task.md';
const SESSION = 'sessions/s.session.yaml';
const LEAST = 'agent_id: planner-001\nstatus: paused\nmessages:\n  - role: user\n    content: Is Redis up?\n';

const count = (text: string, what: RegExp) => (text.match(what) ?? []).length;

/** What must hold whatever the editor: nothing else was read as data, nothing was given up, the history is sound. */
async function sound(home: string, {events, stop}: Served, paths: readonly string[]): Promise<void> {
  expect(await stop()).toBe(0);
  const touched = events.filter(e => e.event === 'seen').map(e => e.path);
  expect(touched.filter(path => !paths.includes(path as string))).toEqual([]);
  // The test's own git is a person's: it may be waited for.
  const given = events.filter(({what}) => !/^your own git command is under way/.test(String(what)));
  expect(given.filter(({event}: Event) => ['problem', 'conflict', 'trouble'].includes(event))).toEqual([]);
  const inGit = (await git(home, 'log', '--format=', '--name-only', 'HEAD', `^${await first(home)}`))
    .trim()
    .split('\n');
  expect([...new Set(inGit)].sort()).toEqual([...paths].sort());
  expect(existsSync(join(home, 'conflicts'))).toBe(false);
  expect(await git(home, 'fsck', '--strict', '--no-dangling')).toBe('');
}

const first = async (home: string) => (await git(home, 'rev-list', '--max-parents=0', 'HEAD')).trim();

/** Every version of a file in the journal, oldest first, with its author. */
async function versions(home: string, path: string): Promise<{author: string; text: string}[]> {
  const lines = (await git(home, 'log', '--reverse', '--format=%H %an', '--', path)).trim().split('\n');
  return Promise.all(
    lines.map(async line => {
      const [commit, author = ''] = line.split(/ (.*)/);
      return {author, text: await git(home, 'show', `${commit}:${path}`)};
    }),
  );
}

/** The titles and ids of a task file. Each title once, each with one id that never changed in all its history. */
async function idsOf(home: string, path: string): Promise<Record<string, string>> {
  const ids: Record<string, string> = {};
  for (const {text} of await versions(home, path)) {
    const {tasks} = parseTasks(text);
    expect(new Set(tasks.map(task => task.title)).size).toBe(tasks.length);
    for (const {title, fields} of tasks) {
      const id = fields.find(field => field.key === 'id')?.value;
      if (!id) continue;
      ids[title] ??= id;
      expect(ids[title]).toBe(id);
    }
  }
  return ids;
}

/** How a person does the same things in one editor and another. */
interface Editor {
  open: (home: string, path: string) => Promise<Terminal>;
  /** Add lines below all that is there. */
  append: (at: Terminal, lines: string) => void;
  save: (at: Terminal) => Promise<void>;
  /** Save though the file changed on disk, after being asked whether one really wants to. */
  saveStale: (at: Terminal) => Promise<void>;
  quit: (at: Terminal) => void;
}

function vim(settings: string): Editor {
  return {
    open: async (home, path) => {
      const at = terminal(home, `vim -u NONE -N -i NONE --cmd 'set ${settings}' ${path}`);
      await at.shows(/t\.task\.md"|s\.session\.yaml"/);
      return at;
    },
    append: (at, lines) => at.type(`:set paste\rGo${lines.replace(/\n$/, '').replaceAll('\n', '\r')}${ESCAPE}`),
    save: async at => {
      at.type(':w\r');
      await at.shows(/\d+B written/);
    },
    saveStale: async at => {
      at.type(':w\r');
      await at.shows(/WARNING: The file has been changed since reading it!!!/);
      await at.shows(/Do you really want to write to it/);
      at.type('y');
      await at.shows(/\d+B written/);
      at.type('\r');
    },
    quit: at => at.type(':q\r'),
  };
}

/** As a person would: yes to whatever vim asks, and again if it says that the file changed under its hands. */
async function saveAnyhow(at: Terminal): Promise<void> {
  at.type(':w\r');
  for (;;) {
    const shown = await at.shows(/\d+B written|\(y\/n\)\?|E949: File changed while writing/);
    if (shown.endsWith('written')) return;
    at.type(shown.startsWith('E949') ? '\r:w\r' : 'y');
  }
}

const nano: Editor = {
  open: async (home, path) => {
    const at = terminal(home, `nano --ignorercfiles --nohelp ${path}`);
    await at.shows(/\[ (?:Read \d+ lines?|New File) \]/);
    return at;
  },
  // To the last line, which is empty.
  append: (at, lines) => at.type(`${ESCAPE}/${lines.replaceAll('\n', '\r')}`),
  save: async at => {
    at.type('\u000f');
    await at.shows(/Write/);
    at.type('\r');
    await at.shows(/\[ Wrote \d+ lines? \]/);
  },
  saveStale: async at => {
    at.type('\u000f');
    await at.shows(/Write/);
    at.type('\r');
    await at.shows(/File on disk has changed/);
    await at.shows(/continue saving/);
    at.type('y');
    await at.shows(/\[ Wrote \d+ lines? \]/);
  },
  quit: at => at.type('\u0018'),
};

const editors: [name: string, editor: Editor][] = [
  ['vim', vim('swapfile')],
  ['nano', nano],
  ['vim with backupcopy=yes', vim('backupcopy=yes')],
  ['vim with nobackup nowritebackup', vim('nobackup nowritebackup')],
  ['vim with backup', vim('backup backupcopy=no')],
];

describe.each(editors)('%s', (name, editor) => {
  const program = name.split(' ')[0] ?? '';
  const missing = [program, 'script'].find(needed => !installed(needed));
  if (missing) {
    it.skip(`not tested: ${missing} is not installed`, () => {});
    return;
  }

  it('a task file and a session: saves are committed whole and completed; stale buffers are merged', async () => {
    const home = await newHome({[TASKS]: '# Mine\n\nProse.\n'});
    const served = await serve(home);
    await settled(home, TASKS, text => text !== '');
    const [tasks, session] = await Promise.all([editor.open(home, TASKS), editor.open(home, SESSION)]);
    if (program === 'vim') expect(existsSync(join(home, 'tasks/.t.task.md.swp'))).toBe(true);

    editor.append(tasks, '- [ ] @human "one"\n');
    await editor.save(tasks);
    const one = await committed(home, TASKS, text => text.includes('created:'));
    // The editor still has it without the id: this save would undo what the daemon wrote.
    editor.append(tasks, '- [ ] @human "two"\n');
    await editor.saveStale(tasks);
    const two = await committed(home, TASKS, text => count(text, /created:/g) === 2);
    editor.append(tasks, '\nMore prose.\n');
    await editor.saveStale(tasks);
    const three = await committed(home, TASKS, text => text.includes('More prose.') && count(text, /id:/g) === 2);
    editor.quit(tasks);

    editor.append(session, LEAST);
    await editor.save(session);
    const filled = await committed(home, SESSION, text => text.includes('updated:'));
    editor.append(session, '  - role: user\n    content: And now?\n');
    await editor.saveStale(session);
    const more = await committed(home, SESSION, text => count(text, /timestamp:/g) === 2);
    editor.quit(session);
    await Promise.all([tasks.exited, session.exited]);

    expect(Object.keys(await idsOf(home, TASKS))).toEqual(['one', 'two']);
    for (const line of one.trim().split('\n')) expect(two).toContain(line);
    for (const line of two.trim().split('\n')) expect(three).toContain(line);
    expect(three.startsWith('# Mine\n\nProse.\n')).toBe(true);
    const {header, messages, problems} = parseSession(more);
    expect(problems).toEqual([]);
    expect(header?.created).toBe(parseSession(filled).header?.created);
    expect(messages.map(message => message.content)).toEqual(['Is Redis up?', 'And now?']);
    expect(messages[0]).toEqual(parseSession(filled).messages[0]);

    // Each save is a commit of the person's, as they saved it; what was merged and filled in is the daemon's.
    const history = await versions(home, TASKS);
    expect(history.map(({author}) => author)).toEqual([
      ...['Ada', 'Ada', 'agentdir'],
      ...['Ada', 'agentdir', 'agentdir'],
      ...['Ada', 'agentdir'],
    ]);
    expect(history[1]?.text.trimEnd()).toMatch(/^# Mine\n\nProse.\n+- \[ \] @human "one"$/);
    const own = await versions(home, SESSION);
    expect(own.map(({author}) => author)).toEqual(['Ada', 'agentdir', 'Ada', 'agentdir', 'agentdir']);
    expect(own[0]?.text.trim()).toBe(LEAST.trim());
    expect(await git(home, 'status', '--porcelain', '--untracked-files=no')).toBe('');
    await sound(home, served, [TASKS, SESSION]);
  });
});

describe.skipIf(!installed('vim') || !installed('script'))('vim in a hurry (skipped without vim)', () => {
  it('several :w at once, then :wq: all that was committed was saved so, and the last is there', async () => {
    const home = await newHome({'memory/m.md': 'start\n'});
    const served = await serve(home);
    await settled(home, 'memory/m.md', text => text !== '');
    const at = terminal(home, 'vim -u NONE -N -i NONE memory/m.md');
    await at.shows(/m\.md"/);
    const lines = ['one', 'two', 'three', 'four', 'five'];
    at.type(
      lines
        .map(line => `o${line}${ESCAPE}:w\r`)
        .join('')
        .replace(/w\r$/, 'wq\r'),
    );
    expect(await at.exited).toBe(0);
    const whole = ['start', ...lines];
    await settled(home, 'memory/m.md', text => text === `${whole.join('\n')}\n`);
    const saves = whole.map((_, i) => `${whole.slice(0, i + 1).join('\n')}\n`);
    for (const {text, author} of await versions(home, 'memory/m.md')) {
      expect(saves).toContain(text);
      expect(author).toBe('Ada');
    }
    await sound(home, served, ['memory/m.md']);
  });

  it('several :w over what the daemon fills in meanwhile: nothing of either is lost or doubled', async () => {
    const home = await newHome({[TASKS]: '# Mine\n'});
    const served = await serve(home);
    await settled(home, TASKS, text => text !== '');
    const at = terminal(home, `vim -u NONE -N -i NONE ${TASKS}`);
    await at.shows(/t\.task\.md"/);
    const names = ['one', 'two', 'three', 'four', 'five', 'six'];
    for (const name of names) {
      at.type(`o- [ ] @human "${name}"${ESCAPE}`);
      await saveAnyhow(at);
      // Sometimes before the daemon has filled in the last, sometimes after.
      if (name.length > 3) await committed(home, TASKS, text => text.includes(`"${name}"\n  id:`));
    }
    at.type('\r:q\r');
    expect(await at.exited).toBe(0);
    const text = await settled(home, TASKS, now => count(now, /created:/g) === names.length);
    expect(parseTasks(text).tasks.map(task => task.title)).toEqual(names);
    expect(Object.keys(await idsOf(home, TASKS)).sort()).toEqual([...names].sort());
    await sound(home, served, [TASKS]);
  });
});

describe('the shell', () => {
  const sh = async (home: string, line: string) => {
    await promisify(execFile)('sh', ['-c', line], {cwd: home, env: environment});
  };

  it('cat >, >> and sed -i: each is committed and completed', async () => {
    const home = await newHome();
    const served = await serve(home);
    await sh(home, `printf '# Mine\\n- [ ] @human "one"\\n' | cat > ${TASKS}`);
    await settled(home, TASKS, text => count(text, /created:/g) === 1);
    await sh(home, `echo '- [ ] @human "two"' >> ${TASKS}`);
    await settled(home, TASKS, text => count(text, /created:/g) === 2);
    await sh(home, `sed -i '/"one"/s/\\[ \\]/[x]/' ${TASKS}`);
    const text = await settled(home, TASKS, now => now.includes('completed:'));
    expect(parseTasks(text).tasks.map(({title, state}) => [title, state])).toEqual([
      ['one', 'completed'],
      ['two', 'pending'],
    ]);
    await sh(home, `sed 's/two/2/' ${TASKS} > x && cat x > ${TASKS} && rm x`);
    await settled(home, TASKS, now => now.includes('"2"'));
    const authors = (await versions(home, TASKS)).map(({author}) => author);
    expect(authors).toEqual(['Ada', 'agentdir', 'Ada', 'agentdir', 'Ada', 'agentdir', 'Ada']);
    await sound(home, served, [TASKS]);
  });

  it('a slow writer, whose file is completed while it still writes: all of it arrives', async () => {
    const home = await newHome();
    const served = await serve(home);
    const task = (name: string) => `printf -- '- [ ] @human "${name}"\\n'`;
    const filledIn = (name: string) => `until grep -A1 '"${name}"' ${TASKS} | grep -q id:; do sleep 0.02; done`;
    // Its descriptor stays that of the file it opened, which the daemon replaces.
    await sh(
      home,
      `{ ${task('one')}; ${filledIn('one')}; ${task('two')}; ${filledIn('two')}; ${task('three')}; } > ${TASKS}`,
    );
    const text = await settled(home, TASKS, now => count(now, /created:/g) === 3);
    expect(parseTasks(text).tasks.map(({title}) => title)).toEqual(['one', 'two', 'three']);
    await idsOf(home, TASKS);
    await sound(home, served, [TASKS]);
  });
});

/** What editors that are too large to install do, call by call, as far as it is known: written by hand, not recorded. */
const savers: Record<string, (path: string, text: string) => void> = {
  'Emacs: first save': (path, text) => {
    const [folder, name] = [path.slice(0, path.lastIndexOf('/')), path.slice(path.lastIndexOf('/') + 1)];
    rmSync(`${folder}/.#${name}`, {force: true});
    symlinkSync('ada@host.123:1700000000', `${folder}/.#${name}`);
    writeFileSync(`${folder}/#${name}#`, text);
    renameSync(path, `${path}~`);
    written(path, 'w', text);
    rmSync(`${folder}/#${name}#`);
    rmSync(`${folder}/.#${name}`);
  },
  'Emacs: file-precious-flag': (path, text) => {
    const temp = `${path.slice(0, path.lastIndexOf('/'))}/temA1b2C3`;
    written(temp, 'wx', text);
    renameSync(temp, path);
  },
  'VS Code: in place': (path, text) => {
    const fd = openSync(path, 'r+');
    ftruncateSync(fd, 0);
    writeSync(fd, text);
    fsyncSync(fd);
    closeSync(fd);
  },
  'VS Code: atomic': (path, text) => {
    written(`${path}.vsctmp`, 'w', text);
    renameSync(`${path}.vsctmp`, path);
  },
  IntelliJ: (path, text) => {
    written(`${path}___jb_tmp___`, 'w', text);
    renameSync(path, `${path}___jb_old___`);
    renameSync(`${path}___jb_tmp___`, path);
    rmSync(`${path}___jb_old___`);
  },
  gedit: (path, text) => {
    const temp = `${path.slice(0, path.lastIndexOf('/'))}/.goutputstream-A1B2C3`;
    written(temp, 'wx', text);
    rmSync(`${path}~`, {force: true});
    renameSync(path, `${path}~`);
    renameSync(temp, path);
    rmSync(`${path}~`);
  },
};

function written(path: string, flags: string, text: string): void {
  const fd = openSync(path, flags);
  const half = text.length >> 1;
  writeSync(fd, text.slice(0, half));
  writeSync(fd, text.slice(half));
  fsyncSync(fd);
  closeSync(fd);
}

describe('other editors, by what they ask of the system', () => {
  it('a buffer that is never reloaded, saved in every way: merged each time', async () => {
    const home = await newHome({[TASKS]: '# Mine\n', [SESSION]: LEAST});
    const served = await serve(home);
    await settled(home, SESSION, text => text.includes('updated:'));
    let [tasks, session] = [read(home, TASKS), LEAST];
    const names = Object.keys(savers);
    for (const [i, name] of names.entries()) {
      tasks += `- [ ] @human "${name}"\n`;
      session += `  - role: user\n    content: message ${i}\n`;
      savers[name]?.(join(home, TASKS), tasks);
      savers[name]?.(join(home, SESSION), session);
      // Half of them save again before the daemon is done.
      if (i % 2) await committed(home, TASKS, text => count(text, /created:/g) === i + 1);
    }
    const final = await committed(home, TASKS, text => count(text, /created:/g) === names.length);
    expect(parseTasks(final).tasks.map(({title}) => title)).toEqual(names);
    expect(Object.keys(await idsOf(home, TASKS)).sort()).toEqual([...names].sort());
    const text = await committed(home, SESSION, now => count(now, /timestamp:/g) === names.length + 1);
    const {messages, problems} = parseSession(text);
    expect(problems).toEqual([]);
    expect(messages.map(({content}) => content)).toEqual(['Is Redis up?', ...names.map((_, i) => `message ${i}`)]);
    await sound(home, served, [TASKS, SESSION]);
  });
});
