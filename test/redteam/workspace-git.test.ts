import {spawnSync} from 'node:child_process';
import {chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {forgetHistory} from '../../src/effects/workspace/history.ts';
import {diffText, EMPTY_TREE, readChanges, type WorkspaceCommit} from '../../src/effects/workspace/read-history.ts';
import {commitCall, keepFound, openWorkspace} from '../../src/effects/workspace/repository.ts';
import {uncommitted} from '../../src/effects/workspace/uncommitted.ts';
import {undoCommit} from '../../src/effects/workspace/undo.ts';
import {agentdir, git, temporary, thorough} from '../cli/run.ts';
import {noBubblewrap, say} from '../effects/sandbox-home.ts';
import {newWorkspace, type TestWorkspace, workspaceIn} from '../effects/workspace-home.ts';

/** A trick: what an agent lays into its workspace, and which of it is in the history. */
interface Trick {
  plant: (dir: string, touch: string, w: TestWorkspace) => void;
  /** As git names the paths; all others of the trick must not be there. */
  kept: readonly string[];
  /** Said about the rest. */
  notes?: RegExp;
}

const put = (dir: string, files: Record<string, string>, mode = 0o644) => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), {recursive: true});
    writeFileSync(join(dir, path), text);
    chmodSync(join(dir, path), mode);
  }
};

const hooks = (touch: string) =>
  Object.fromEntries(
    ['pre-commit', 'post-commit', 'post-index-change', 'reference-transaction', 'post-checkout'].map(name => [
      `.git/hooks/${name}`,
      `#!/bin/sh\n${touch}\n`,
    ]),
  );

/** A repository of the agent's own in place of ours. */
function repository(dir: string, config = ''): void {
  rmSync(join(dir, '.git'), {recursive: true, force: true});
  mkdirSync(dir, {recursive: true});
  spawnSync('git', ['init', '-q', '-b', 'main', dir], {env: {PATH: process.env.PATH, HOME: '/'}});
  writeFileSync(join(dir, '.git/config'), `[core]\n\trepositoryformatversion = 0\n${config}`);
}

const own = (config: (touch: string) => string): Trick => ({
  plant: (dir, touch) => repository(dir, config(touch)),
  kept: [],
  notes: /moved to \.git-found-1/,
});

const attributes = (line: string): Trick => ({
  plant: (dir, touch) => {
    repository(dir, `[filter "x"]\n\tclean = ${touch}\n\tsmudge = ${touch}\n\trequired = true\n`);
    put(dir, {'.gitattributes': `${line}\n`, 'data.x': 'data $Id$ $Format:%H$\r\n'});
  },
  kept: ['.gitattributes', 'data.x'],
  notes: /moved to/,
});

const tricks: Record<string, Trick> = {
  'hooks in a .git folder': {
    plant: (dir, touch) => {
      repository(dir);
      put(dir, hooks(touch), 0o755);
    },
    kept: [],
    notes: /moved to \.git-found-1/,
  },
  'core.fsmonitor': own(touch => `\tfsmonitor = ${touch}\n`),
  'core.hooksPath': {
    plant: (dir, touch) => {
      repository(dir, '\thooksPath = hooks\n');
      put(dir, {'hooks/post-index-change': `#!/bin/sh\n${touch}\n`}, 0o755);
    },
    kept: ['hooks/post-index-change'],
    notes: /moved to/,
  },
  'core.sshCommand': own(touch => `\tsshCommand = ${touch}\n`),
  'core.pager and core.editor': own(touch => `\tpager = ${touch}\n\teditor = ${touch}\n`),
  'an alias': own(touch => `[alias]\n\tlog = !${touch}\n\tdiff-tree = !${touch}\n\tcat-file = !${touch}\n`),
  'include.path': {
    plant: (dir, touch) => {
      repository(dir, '[include]\n\tpath = ../evil\n');
      put(dir, {evil: `[core]\n\tfsmonitor = ${touch}\n`});
    },
    kept: ['evil'],
    notes: /moved to/,
  },
  'diff.external and gpg.program': own(
    touch => `[diff]\n\texternal = ${touch}\n[gpg]\n\tprogram = ${touch}\n[commit]\n\tgpgSign = true\n`,
  ),
  'textconv by .gitattributes': {
    plant: (dir, touch) => {
      repository(dir, `[diff "x"]\n\ttextconv = ${touch}\n\tcommand = ${touch}\n`);
      put(dir, {'.gitattributes': '* diff=x\n', 'data.x': 'data\n'});
    },
    kept: ['.gitattributes', 'data.x'],
    notes: /moved to/,
  },
  'a filter by .gitattributes': attributes('* filter=x'),
  'working-tree-encoding': attributes('* working-tree-encoding=UTF-16'),
  'ident, export-subst and line ends': attributes('* ident export-subst text eol=crlf'),
  'an attribute that hides a diff': attributes('* -diff'),
  'a .git link': {
    plant: (dir, touch) => {
      repository(join(dir, 'real'), `\tfsmonitor = ${touch}\n`);
      rmSync(join(dir, '.git'));
      symlinkSync('real/.git', join(dir, '.git'));
    },
    kept: [],
    notes: /moved to/,
  },
  'a .git file that leads elsewhere': {
    plant: (dir, touch) => {
      repository(join(dir, 'real'), `\tfsmonitor = ${touch}\n`);
      writeFileSync(join(dir, 'x'), `gitdir: ${dir}/real/.git\n`);
      renameSync(join(dir, 'x'), join(dir, '.git'));
    },
    kept: [],
    notes: /moved to/,
  },
  'a nested repository with hooks and fsmonitor': {
    plant: (dir, touch) => {
      repository(join(dir, 'sub'), `\tfsmonitor = ${touch}\n`);
      put(join(dir, 'sub'), hooks(touch), 0o755);
      put(dir, {'sub/file': 'content\n'});
    },
    kept: ['sub/file'],
  },
  'a nested bare repository': {
    plant: (dir, touch) =>
      put(dir, {
        'bare/HEAD': 'ref: refs/heads/main\n',
        'bare/config': `[core]\n\tbare = true\n\tfsmonitor = ${touch}\n`,
        'bare/objects/x': '',
        'bare/refs/x': '',
      }),
    kept: ['bare/HEAD', 'bare/config', 'bare/objects/x', 'bare/refs/x'],
  },
  'a submodule with update = !command': {
    plant: (dir, touch) =>
      put(dir, {
        '.gitmodules': `[submodule "s"]\n\tpath = s\n\turl = ext::${touch}\n\tupdate = !${touch}\n`,
        's/f': 'f\n',
      }),
    kept: ['.gitmodules', 's/f'],
  },
  '.gitmodules that is a link': {
    plant: dir => symlinkSync('/etc/passwd', join(dir, '.gitmodules')),
    kept: [],
    notes: /\.gitmodules is a link/,
  },
  'info/attributes and an index of its own in a nested .git': {
    plant: (dir, touch) =>
      put(dir, {
        'n/.git/info/attributes': `* filter=${touch}\n`,
        'n/.git/index': 'DIRC',
        'n/.git/HEAD': 'x',
        'n/a': 'a\n',
      }),
    kept: ['n/a'],
  },
  'other spellings of .git': {
    plant: (dir, touch) =>
      put(dir, {
        '.GIT/config': touch,
        'git~1/config': touch,
        '.git /hooks/x': touch,
        '.g\u200cit/config': touch,
        'a/.Git/b': touch,
        'a/GIT~1': touch,
      }),
    kept: [],
  },
  'files named like options': {
    plant: (dir, touch) =>
      put(dir, {
        [`--exec=${touch.replace(/\//g, '_')}`]: 'x\n',
        '--stdin': 'x\n',
        '-c': 'x\n',
        ':(glob)**': 'x\n',
        '@{-1}': 'x\n',
      }),
    kept: ['--exec', '--stdin', '-c', ':(glob)**', '@{-1}'],
  },
  'names with newlines, quotes and bytes that are no text': {
    plant: dir => {
      put(dir, {'a\nb': 'x\n', 'q"\\t': 'x\n', '\u001b[2J': 'x\n'});
      writeFileSync(Buffer.concat([Buffer.from(`${dir}/`), Buffer.from([0x66, 0xff, 0xfe])]), 'bytes\n');
    },
    kept: ['a\nb', 'q"\\t', '\u001b[2J', 'f\ufffd\ufffd'],
  },
  'a path too long for git': {
    plant: dir => {
      const name = 'n'.repeat(250);
      spawnSync('bash', ['-c', `for i in $(seq 18); do mkdir ${name} && cd ${name}; done; echo x > deep`], {cwd: dir});
      put(dir, {short: 'x\n'});
      // Node cannot remove it.
      onTestFinished(() => void spawnSync('rm', ['-rf', join(dir, name)]));
    },
    kept: ['short'],
    notes: /has too long a path/,
  },
  'links out of the workspace': {
    plant: (dir, _, w) => {
      put(w.home, {'secret/file': 'not for agents\n'});
      symlinkSync('../../secret', join(dir, 'folder'));
      symlinkSync('../../secret/file', join(dir, 'file'));
    },
    kept: ['file', 'folder'],
  },
  'a pipe, which whoever opens waits for': {
    plant: dir => {
      spawnSync('mkfifo', [join(dir, 'pipe')]);
      spawnSync('mkfifo', [join(dir, '.gitignore')]);
    },
    kept: [],
    notes: /is a device, pipe or socket/,
  },
};

const names = async (w: TestWorkspace, commit: string) =>
  (await w.git('ls-tree', '-r', '-z', '--name-only', commit)).split('\0').filter(name => name && name !== 'base.txt');

/** Those that what comes after the call could trip over, too. */
const afterwards = [
  'hooks in a .git folder',
  'textconv by .gitattributes',
  'a filter by .gitattributes',
  'links out of the workspace',
];

describe('git tricks in a workspace run nothing', () => {
  it.each(Object.entries(tricks))('%s', async (title, {plant, kept, notes}) => {
    const w = await newWorkspace();
    const canary = join(w.home, 'canary');
    const touch = join(w.home, 'touch.sh');
    writeFileSync(touch, `#!/bin/sh\n: > '${canary}'\ncat\n`, {mode: 0o755});
    const environment = {GIT_EXTERNAL_DIFF: touch, GIT_SSH_COMMAND: touch, GIT_CONFIG_COUNT: '1'};
    Object.assign(process.env, environment, {GIT_CONFIG_KEY_0: 'core.fsmonitor', GIT_CONFIG_VALUE_0: touch});
    try {
      await w.call('base', () => w.put({'base.txt': 'base\n'}));
      const done = await w.call('trick', () => plant(w.dir, touch, w));
      if (notes) expect(done.notes.join('\n')).toMatch(notes);
      else expect(done.notes).toEqual([]);
      const [change] = await readChanges(w.gitDir);
      expect(change?.call).toBe(kept.length > 0 ? 'trick' : 'base');
      const found = change ? await names(w, change.commit) : [];
      expect(found.map(name => name.replace(/^--exec=.*/, '--exec')).sort()).toEqual([...kept].sort());
      // And so through all that a person does next, which takes its time.
      if (thorough || afterwards.includes(title)) await lookAndUndo(w, change);
    } finally {
      for (const name of [...Object.keys(environment), 'GIT_CONFIG_KEY_0', 'GIT_CONFIG_VALUE_0'])
        delete process.env[name];
    }
    expect(existsSync(canary), 'something was run').toBe(false);
  });

  it('are worth the name: the first does run for a careless git', async () => {
    const w = await newWorkspace();
    const touch = join(w.home, 'touch.sh');
    writeFileSync(touch, `#!/bin/sh\n: > '${w.home}/canary'\n`, {mode: 0o755});
    repository(w.dir, `\tfsmonitor = ${touch}\n`);
    spawnSync('git', ['status'], {cwd: w.dir, env: {PATH: process.env.PATH, HOME: '/'}});
    expect(existsSync(join(w.home, 'canary'))).toBe(true);
  });
});

describe('settings that an unconfined command wrote into the git-dir', () => {
  it.each(['tree', 'blob'])('have nothing run when a %s is missing', async kind => {
    const w = await newWorkspace();
    const canary = join(w.home, 'canary');
    put(w.home, {'agentdir.yaml': 'format: 1\n'});
    await w.call('c1', () => w.put({'a.txt': 'one\n'}));
    await w.call('c2', () => w.put({'a.txt': 'two\n'}));
    await git(w.home, 'clone', '-q', '--bare', w.gitDir, 'other.git');
    const settings = `[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = evil\n[remote "evil"]\n\tpromisor = true\n\turl = ${w.home}/other.git\n\tuploadpack = touch ${canary}; git-upload-pack\n`;
    writeFileSync(join(w.gitDir, 'config'), settings, {flag: 'a'});
    const id = (await w.git('rev-parse', kind === 'tree' ? 'HEAD^{tree}' : 'HEAD~1:a.txt')).trim();
    rmSync(join(w.gitDir, 'objects', id.slice(0, 2), id.slice(2)));
    forgetHistory(w);
    expect((await w.call('c3', () => w.put({'b.txt': 'b\n'}))).notes.join()).toContain(
      kind === 'tree' ? 'cannot be read: git diff-index: error:' : '',
    );
    for (const args of [['diff', 'coder', 'c2'], ['undo', 'coder', 'c2'], ['list'], ['log', 'coder']]) {
      const {stderr} = await agentdir(w.home, ['workspace', ...args]);
      expect(stderr).not.toContain('    at ');
    }
    expect(existsSync(canary), 'something was run').toBe(false);
    // It would be, for a careless git.
    await w.git('cat-file', '-e', id).catch(() => {});
    expect(existsSync(canary)).toBe(true);
  });
});

describe('where a submodule of a cloned repository is', () => {
  it("a person's git runs nothing that an agent lays there", async () => {
    const w = workspaceIn(temporary());
    const canary = join(w.home, 'canary');
    await sourceWithSubmodule(join(w.home, 'source'));
    expect(await openWorkspace(w, {clone: 'source'})).toEqual({notes: []});
    const look = async () => {
      for (const args of [['status'], ['diff'], ['diff', 'HEAD'], ['stash', 'list'], ['status', '--ignored']])
        await w.git(...args);
      expect(existsSync(canary), 'something was run').toBe(false);
    };
    const lay = () => {
      repository(join(w.dir, 'deep/sub'), `\tfsmonitor = "touch ${canary}; false"\n`);
      put(w.dir, {'.gitmodules': MODULES.replace('all', 'none')});
    };
    // While the call runs, and after a crash in it, only the index says so.
    const call = {session: 'coder-1', call: 'c1', words: 'call c1'};
    await keepFound(w, undefined, call);
    lay();
    await look();
    const moved = 'deep/sub/.git stood where a submodule is; it was moved to .git-found-1 and is not used';
    expect((await commitCall(w, call)).notes).toEqual([moved]);
    await look();
    // A branch of the person's has another index; what was laid there before is out of the way.
    await w.git('update-index', '--no-skip-worktree', 'deep/sub');
    await look();
    await w.call('c2', () => {});
    lay();
    await look();
    expect((await w.call('c3', () => w.put({'deep/sub': 'a file\n'}))).notes).toEqual([]);
    await w.call('c4', () => w.put({'deep/sub': undefined}));
    expect(await w.git('ls-files')).toBe('.gitmodules\n');
    expect(await w.git('status', '--porcelain')).toBe('');
  });
});

it('what is written where a submodule is can be taken back, and that too', async () => {
  const w = workspaceIn(temporary());
  await sourceWithSubmodule(join(w.home, 'source'));
  await openWorkspace(w, {clone: 'source'});
  const before = await w.git('ls-tree', '-r', 'HEAD');
  const take = (subject: string) =>
    undoCommit(w, changes => changes.find(change => change.subject === subject) ?? raise()).then(done =>
      expect(done).toHaveProperty('commit'),
    );
  const path = ['deep/sub/inner.txt'];
  for (const [id, files] of Object.entries({inner: {'deep/sub/inner.txt': 'x\n'}, file: {'deep/sub': 'file\n'}})) {
    await w.call(id, () => w.put(files), id === 'inner' ? path : undefined);
    const after = await w.git('ls-tree', '-r', 'HEAD');
    await take(`call ${id}`);
    expect(await w.git('ls-tree', '-r', 'HEAD')).toBe(before);
    expect(await w.git('status', '--porcelain')).toBe('');
    expect(existsSync(join(w.dir, Object.keys(files)[0] ?? ''))).toBe(false);
    await take(`undo: call ${id}`);
    expect(await w.git('ls-tree', '-r', 'HEAD')).toBe(after);
    expect(await w.git('status', '--porcelain')).toBe('');
    await take(`undo: undo: call ${id}`);
  }
  await w.call('removed', () => rmSync(join(w.dir, 'deep'), {recursive: true, force: true}));
  expect(await w.git('ls-tree', '-r', 'HEAD')).toBe(before);
  expect(await w.git('status', '--porcelain')).toBe('');
});

const MODULES = '[submodule "s"]\n\tpath = deep/sub\n\turl = ../nowhere\n\tignore = all\n';

async function sourceWithSubmodule(dir: string): Promise<void> {
  put(dir, {'.gitmodules': MODULES});
  await git(dir, 'init', '-q', '-b', 'trunk');
  await git(dir, 'add', '-A');
  await git(dir, 'commit', '-qm', 'first');
  await git(
    dir,
    'update-index',
    '--add',
    '--cacheinfo',
    `160000,${(await git(dir, 'rev-parse', 'HEAD')).trim()},deep/sub`,
  );
  await git(dir, 'commit', '-qm', 'second');
}

describe.skipIf(noBubblewrap)('a confined command', () => {
  it('reads its history, and can change neither that nor the file that leads to it', async () => {
    const w = await newWorkspace();
    await w.call('c1', () => w.put({'a.txt': 'one\n'}));
    const script =
      'git log --format=%s; rm -f .git; mv .git x; echo gitdir: /tmp > .git; echo x > ../../.workspaces/coder.git/HEAD; git commit --allow-empty -qm mine; git status --porcelain';
    const said = await say({home: w.home, workspace: w.dir}, ['sh', '-c', script]);
    expect(said.stdout).toBe('call c1\n');
    expect((await w.call('c2', () => {})).notes).toEqual([]);
    expect(await w.git('log', '--format=%s')).toBe('call c1\n');
    expect(readdirSync(w.dir).sort()).toEqual(['.git', 'a.txt']);
  });
});

async function lookAndUndo(w: TestWorkspace, change: WorkspaceCommit | undefined): Promise<void> {
  writeFileSync(join(w.dir, 'base.txt'), 'later\n');
  const open = await uncommitted(w);
  expect(await diffText(w.gitDir, open.from, open.to)).toContain('+later');
  if (change) expect(await diffText(w.gitDir, EMPTY_TREE, change.commit)).not.toContain('not for agents');
  const done = await undoCommit(w, changes => changes.find(({call}) => call === change?.call) ?? raise());
  expect(done).not.toHaveProperty('failed');
  forgetHistory(w);
  expect(await openWorkspace(w)).not.toHaveProperty('success');
}

function raise(): never {
  throw new Error('no such call');
}
