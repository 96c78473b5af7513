import {execFileSync} from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {Journal} from '../../src/home/journal.ts';
import {git, temporary, until} from '../cli/run.ts';
import {entry, fileAt, lines, open, removal, repository, soundness, write} from './repository.ts';

const ours = (dir: string) => readdirSync(join(dir, '.git')).filter(name => /agentdir|\.lock$/.test(name));

describe('a commit of the journal', () => {
  it('is one like any other to git log, blame, status and fsck', async () => {
    const dir = await repository({'memory/a.md': 'one\n', 'README.md': 'x\n'});
    const journal = await open(dir);
    const done = await journal.add({
      changes: [write(dir, 'memory/a.md', 'one\ntwo\n')],
      author: {name: 'planner-001', email: 'planner-001@home'},
      subject: 'session(s): assistant turn',
      trailers: [
        ['Agent', 'planner-001'],
        ['Cause', 'two\nlines'],
      ],
    });
    expect(await soundness(dir)).toBe('');
    expect(await git(dir, 'log', '-1', '--format=%H|%an <%ae>|%cn|%s|%(trailers:only,unfold,separator=%x2C)')).toBe(
      `${done.commit}|planner-001 <planner-001@home>|Ada|session(s): assistant turn|Agent: planner-001,Cause: two lines\n`,
    );
    expect(await git(dir, 'blame', '-s', '-l', 'memory/a.md')).toContain(`${done.commit} 2) two`);
    expect(await git(dir, 'diff-index', 'HEAD')).toBe('');
    expect(await git(dir, 'reflog', '-2', '--format=%gs')).toBe(
      'commit: session(s): assistant turn\ncommit (initial): start\n',
    );
    expect(journal.committed.get('memory/a.md')).toBe(Journal.blobId(Buffer.from('one\ntwo\n')));
    expect(ours(dir)).toEqual([]);
  });

  it('has all state changes of one step that wait together, and names each', async () => {
    const dir = await repository({});
    const journal = await open(dir);
    const agent = {name: 'coder', email: 'coder@home'};
    const daemon = {name: 'agentdir', email: 'agentdir@home'};
    const call: [string, string] = ['Call', 'c1'];
    const approval: [string, string] = ['Approval', 'a1'];
    const cause = (of: string): [string, string] => ['Cause', of];
    const change = (path: string, text: string) => ({changes: [write(dir, path, text)]});
    const turn = {subject: 'session(s): assistant turn, calls x', trailers: [call, cause('turn')]};
    const asks = {subject: 'session(s): asks about x', trailers: [call, approval, cause('call')]};
    const asked = {subject: 'tasks(approvals): a1 asked', trailers: [approval, cause('approval')]};
    const other = {subject: 'state(spend): more', trailers: [cause('spend')]};
    const byHand = {subject: 'tasks(approvals): approved a1 by hand', trailers: [approval, cause('edit')]};
    const done = await Promise.all([
      journal.add({...change('sessions/s.session.yaml', 'turn\n'), author: agent, ...turn}),
      journal.add({...change('sessions/s.session.yaml', 'turn\nasks\n'), author: agent, ...asks, joins: 'step'}),
      journal.add({...change('state/spend.yaml', 'more\n'), author: daemon, ...other}),
      journal.add({...change('tasks/approvals.task.md', '[_]\n'), author: daemon, ...asked, joins: 'step'}),
      journal.add({...change('tasks/approvals.task.md', '[x]\n'), author: 'human', ...byHand}),
      // What a person did comes in between.
      journal.add({...change('approvals/pending/a1.approval.md', 'a1\n'), author: daemon, ...asked, joins: 'step'}),
    ]);
    expect(done.map(({commit}) => done.findIndex(first => first.commit === commit))).toEqual([0, 0, 2, 0, 4, 5]);
    const log = await git(
      dir,
      'log',
      '--reverse',
      '--format=%an|%s|%(trailers:only,unfold,separator=%x2C)',
      'HEAD~3..',
    );
    expect(log.split('\n').slice(0, 2)).toEqual([
      'agentdir|state(spend): more|Cause: spend',
      'Ada|tasks(approvals): approved a1 by hand|Approval: a1,Cause: edit',
    ]);
    expect(
      await git(dir, 'show', '--format=%an|%s|%(trailers:only,unfold,separator=%x2C)', '--name-only', 'HEAD~3'),
    ).toBe(
      'coder|session(s): assistant turn, calls x; asks about x|' +
        'Call: c1,Approval: a1,Step: session(s): asks about x,Step: tasks(approvals): a1 asked,Cause: call\n\n' +
        'sessions/s.session.yaml\ntasks/approvals.task.md\n',
    );
    expect(await git(dir, 'show', 'HEAD~3:sessions/s.session.yaml')).toBe('turn\nasks\n');
    expect(await git(dir, 'show', 'HEAD~3:tasks/approvals.task.md')).toBe('[_]\n');
    expect(await soundness(dir)).toBe('');
  });

  it('is led by a change of the call, if there is one, and takes what joins whatever came last', async () => {
    const dir = await repository({});
    const journal = await open(dir);
    const agent = {name: 'coder', email: 'coder@home'};
    const daemon = {name: 'agentdir', email: 'agentdir@home'};
    const ids: [string, string][] = [
      ['Call', 'c1'],
      ['Approval', 'a1'],
    ];
    const session = (text: string, subject: string) => ({
      changes: [write(dir, 'sessions/s.session.yaml', text)],
      author: agent,
      subject: `session(s): ${subject}`,
      trailers: [...ids, ['Cause', 'call'] as [string, string]],
      joins: 'step' as const,
    });
    const other = (path: string, subject: string, cause: string) => ({
      changes: [write(dir, path, `${subject}\n`)],
      author: daemon,
      subject,
      trailers: [...(cause === 'approval' ? ids.slice(1) : []), ['Cause', cause] as [string, string]],
    });
    const done = await Promise.all([
      journal.add(other('tasks/approvals.task.md', 'tasks(approvals): a1 approved', 'approval')),
      journal.add(session('started\n', 'started x')),
      journal.add({...other('state/spend.yaml', 'state(spend): more', 'spend'), joins: 'last'}),
      journal.add(session('started\nresult\n', 'result of x')),
    ]);
    expect(new Set(done.map(({commit}) => commit)).size).toBe(1);
    expect(await git(dir, 'log', '-1', '--format=%an|%s|%(trailers:only,unfold,separator=%x2C)')).toBe(
      'coder|session(s): started x; result of x|Call: c1,Approval: a1,Step: tasks(approvals): a1 approved,' +
        'Step: state(spend): more,Step: session(s): result of x,Cause: call\n',
    );
    expect(await git(dir, 'show', 'HEAD:sessions/s.session.yaml')).toBe('started\nresult\n');
    expect(await soundness(dir)).toBe('');
  });

  it('is not made if HEAD has it already', async () => {
    const dir = await repository({'memory/a.md': 'one\n'});
    const journal = await open(dir);
    const done = await journal.add(entry(fileAt(dir, 'memory/a.md')));
    expect(done).toMatchObject({already: true, commit: (await git(dir, 'rev-parse', 'HEAD')).trim()});
    expect(await git(dir, 'rev-list', '--count', 'HEAD')).toBe('1\n');
  });

  it('has nothing of what the person staged or left dirty', async () => {
    const dir = await repository({'memory/a.md': 'a\n', 'staged.txt': '1\n', 'dirty.txt': '1\n', 'gone.txt': '1\n'});
    write(dir, 'staged.txt', '2\n');
    write(dir, 'new.txt', '2\n');
    await git(dir, 'add', 'staged.txt', 'new.txt');
    await git(dir, 'rm', '-q', '--cached', 'gone.txt');
    write(dir, 'dirty.txt', '2\n');
    const before = await git(dir, 'status', '--porcelain');
    const journal = await open(dir);
    await journal.add(entry(write(dir, 'memory/a.md', 'b\n')));
    expect(await git(dir, 'show', '--format=', '--name-only')).toBe('memory/a.md\n');
    expect(await soundness(dir)).toBe(before);
  });

  it('can add, remove, make executable, link, and put a folder where a file was and back', async () => {
    const dir = await repository({'memory/a.md': 'a\n', 'memory/a-b.md': '1\n', 'memory/a0.md': '1\n'});
    const journal = await open(dir);
    await journal.add(entry(write(dir, 'memory/deep/er/n.md', 'n\n'), 'added'));
    chmodSync(join(dir, 'memory/a0.md'), 0o755);
    await journal.add(entry(fileAt(dir, 'memory/a0.md'), 'executable'));
    symlinkSync('a0.md', join(dir, 'memory/link.md'));
    const stat = lstatSync(join(dir, 'memory/link.md'), {bigint: true});
    await journal.add(
      entry({path: 'memory/link.md', content: {bytes: Buffer.from('a0.md'), mode: '120000'}, stat}, 'link'),
    );
    rmSync(join(dir, 'memory/a.md'));
    mkdirSync(join(dir, 'memory/a.md'));
    await journal.add(entry(write(dir, 'memory/a.md/x.md', 'x\n'), 'folder'));
    expect(await soundness(dir)).toBe('');
    expect(await git(dir, 'ls-tree', '-r', '--format=%(objectmode) %(path)', 'HEAD')).toBe(
      '100644 memory/a-b.md\n100644 memory/a.md/x.md\n100755 memory/a0.md\n100644 memory/deep/er/n.md\n120000 memory/link.md\n',
    );
    rmSync(join(dir, 'memory/a.md'), {recursive: true});
    rmSync(join(dir, 'memory/deep'), {recursive: true});
    await journal.add(entry([write(dir, 'memory/a.md', 'file\n'), removal('memory/deep/er/n.md')], 'file'));
    expect(await soundness(dir)).toBe('');
    expect(await git(dir, 'ls-tree', '-r', '--name-only', 'HEAD')).toBe(
      'memory/a-b.md\nmemory/a.md\nmemory/a0.md\nmemory/link.md\n',
    );
  });

  it('of the same path twice in one batch is two commits, in order', async () => {
    const dir = await repository({'memory/a.md': '0\n'});
    const journal = await open(dir);
    const added = [1, 2, 3, 4, 5].map(i => journal.add(entry(write(dir, 'memory/a.md', `${i}\n`), `to ${i}`)));
    const done = await Promise.all(added);
    expect(lines(await git(dir, 'log', '--format=%s', '--reverse', '-5'))).toEqual(done.map(({subject}) => subject));
    // One batch; a slow machine may make it several.
    const told = lines(await git(dir, 'reflog', '--format=%gs'));
    const counts = told
      .slice(0, -1)
      .map(line => 1 + Number(/^commit: to \d(?: \(and (\d) before\))?$/.exec(line)?.[1] ?? 0));
    expect(
      counts.reduce((sum, count) => sum + count, 0),
      told.join('; '),
    ).toBe(5);
    expect(told.length).toBeLessThan(6);
    expect(await soundness(dir)).toBe('');
    expect((await journal.versions('memory/a.md', 3)).map(v => v.commit)).toEqual(
      done
        .slice(-3)
        .map(d => d.commit)
        .reverse(),
    );
    const all = await journal.versions('memory/a.md', 20);
    expect(all).toHaveLength(6);
    expect(await journal.read(all[5]?.blob ?? '')).toEqual(Buffer.from('0\n'));
    expect(await journal.read('1'.repeat(40))).toBeUndefined();
  });

  it('a file changed after it was read is modified for git', async () => {
    const dir = await repository({'memory/a.md': '0\n'});
    const journal = await open(dir);
    const change = write(dir, 'memory/a.md', '1\n');
    writeFileSync(join(dir, 'memory/a.md'), '2\n');
    await journal.add(entry(change));
    expect(await soundness(dir)).toBe(' M memory/a.md\n');
    await journal.add(entry(fileAt(dir, 'memory/a.md')));
    expect(await soundness(dir)).toBe('');
  });

  it('names in any script, and texts that would break a commit, are kept or cleaned', async () => {
    const dir = await repository({'memory/a.md': '0\n'});
    const journal = await open(dir);
    await journal.add({
      changes: [write(dir, 'memory/grüße [1] 日本.md', 'x\n')],
      author: {name: ' <evil>\n', email: 'a@b>\nparent 0'},
      subject: 'one\n\nparent x\0',
      trailers: [['Bad key:', 'x']],
    });
    expect(await soundness(dir)).toBe('');
    expect(await git(dir, 'log', '-1', '--format=%an|%ae|%s|%(trailers:only)')).toBe(
      'evil|a@bparent 0|one parent x|Bad-key-: x\n\n',
    );
  });
});

describe('the journal works', () => {
  it('in a home below the top, and says so where there is no repository', async () => {
    const dir = await repository({'deep/home/memory/a.md': 'a\n', 'memory/b.md': 'b\n'});
    const home = join(dir, 'deep/home');
    const journal = await open(home);
    expect([...journal.committed.keys()]).toEqual(['memory/a.md']);
    await journal.add(entry(write(home, 'memory/c.md', 'c\n')));
    expect(await git(dir, 'show', '--format=', '--name-only')).toBe('deep/home/memory/c.md\n');
    expect(await soundness(dir)).toBe('');
    await expect(Journal.open(temporary())).rejects.toThrow('is not in a git repository');
  });

  it('before the first commit', async () => {
    const dir = await repository();
    const journal = await open(dir);
    await Promise.all([1, 2].map(i => journal.add(entry(write(dir, `memory/${i}.md`, `${i}\n`), `${i}`))));
    expect(await git(dir, 'log', '--format=%s|%D')).toBe('2|HEAD -> main\n1|\n');
    expect(await soundness(dir)).toBe('');
  });

  it('with a detached HEAD, a changed branch, packed refs, after gc, and in a linked worktree', async () => {
    const dir = await repository({'memory/a.md': 'a\n'});
    const journal = await open(dir);
    await git(dir, 'checkout', '-q', '--detach');
    await journal.add(entry(write(dir, 'memory/a.md', 'b\n'), 'detached'));
    expect(await git(dir, 'log', '-1', '--format=%s|%D')).toBe('detached|HEAD\n');
    await git(dir, 'checkout', '-q', '-b', 'mine/own');
    await journal.add(entry(write(dir, 'memory/a.md', 'c\n'), 'branch'));
    await git(dir, 'pack-refs', '--all', '--prune');
    await journal.add(entry(write(dir, 'memory/a.md', 'd\n'), 'packed'));
    await git(dir, 'gc', '-q', '--prune=now');
    await journal.add(entry(write(dir, 'memory/a.md', 'e\n'), 'gc'));
    expect(await git(dir, 'log', '--format=%s')).toBe('gc\npacked\nbranch\ndetached\nstart\n');
    expect(await git(dir, 'log', '--format=%s', 'main')).toBe('start\n');
    expect(await soundness(dir)).toBe('');
    const tree = join(temporary(), 'tree');
    await git(dir, 'worktree', 'add', '-q', '-b', 'side', tree);
    const other = await open(tree);
    await other.add(entry(write(tree, 'memory/a.md', 'f\n'), 'worktree'));
    expect(await soundness(tree)).toBe('');
    expect(await git(dir, 'log', '-1', '--format=%s', 'side')).toBe('worktree\n');
    expect(await soundness(dir)).toBe('');
  });

  it('whatever hooks, signing or a missing identity say', async () => {
    const dir = await repository({'memory/a.md': 'a\n'});
    await git(dir, 'config', 'commit.gpgSign', 'true');
    for (const hook of ['pre-commit', 'commit-msg', 'post-commit', 'reference-transaction', 'post-index-change'])
      writeFileSync(join(dir, '.git/hooks', hook), '#!/bin/sh\ntouch "$0.ran"\nexit 1\n', {mode: 0o755});
    const names = ['GIT_AUTHOR_NAME', 'GIT_AUTHOR_EMAIL', 'GIT_COMMITTER_NAME', 'GIT_COMMITTER_EMAIL'];
    const saved = names.map(name => process.env[name]);
    for (const name of names) delete process.env[name];
    Object.assign(process.env, {EMAIL: ''});
    await git(dir, 'config', 'user.useConfigOnly', 'true');
    try {
      const journal = await open(dir);
      await journal.add(entry(write(dir, 'memory/a.md', 'b\n')));
      const user = process.env.USER || process.env.LOGNAME || 'human';
      expect(await git(dir, 'log', '-1', '--format=%an <%ae> %cn')).toBe(`${user} <${user}@localhost> ${user}\n`);
      await git(dir, 'config', 'user.name', 'Grace');
      await git(dir, 'config', 'user.email', 'grace@example.org');
      await journal.add(entry(write(dir, 'memory/a.md', 'c\n')));
      expect(await git(dir, 'log', '-1', '--format=%an <%ae>')).toBe('Grace <grace@example.org>\n');
    } finally {
      for (const [i, name] of names.entries()) process.env[name] = saved[i];
    }
    expect(readdirSync(join(dir, '.git/hooks')).filter(name => name.endsWith('.ran'))).toEqual([]);
    expect(await soundness(dir)).toBe('');
  });

  it('with line ends that git changes, and where the file system cannot tell what is executable', async () => {
    const dir = await repository({'memory/a.md': 'a\n', '.gitattributes': 'memory/*.md text eol=crlf\n'});
    const journal = await open(dir);
    await journal.add(entry(write(dir, 'memory/b.md', 'b\r\nc\r\n')));
    expect(await git(dir, 'show', 'HEAD:memory/b.md')).toBe('b\nc\n');
    expect(await soundness(dir)).toBe('');
    expect(await journal.add(entry(fileAt(dir, 'memory/b.md')))).toMatchObject({already: true});
    await git(dir, 'config', 'core.fileMode', 'false');
    await git(dir, 'config', 'core.autocrlf', 'true');
    await journal.add(entry(write(dir, 'tasks/x.task.md', 'x\r\n', 0o755)));
    expect(await git(dir, 'ls-tree', '-r', '--format=%(objectmode)', 'HEAD', 'tasks')).toBe('100644\n');
    expect(await git(dir, 'show', 'HEAD:tasks/x.task.md')).toBe('x\n');
    expect(await soundness(dir)).toBe('');
  });

  it.each([
    ['index version 4', ['update-index', '--index-version', '4'], []],
    ['a split index', ['update-index', '--split-index'], []],
    ['SHA-256', [], ['--object-format=sha256']],
  ])('by plain git with %s', async (_, prepare, init) => {
    const dir = await repository({'memory/a.md': 'a\n', 'other.txt': '1\n', 'memory/x': 'x\n'}, ...init);
    if (prepare.length > 0) await git(dir, ...prepare);
    write(dir, 'other.txt', '2\n');
    await git(dir, 'add', 'other.txt');
    const journal = await open(dir);
    const added = ['b', 'c'].map(text => journal.add(entry(write(dir, 'memory/a.md', `${text}\n`), text)));
    rmSync(join(dir, 'memory/x'));
    await Promise.all([...added, journal.add(entry([write(dir, 'memory/x/n.md', 'n\n')], 'folder'))]);
    await journal.add(entry(write(dir, 'memory/a.md', 'd\n'), 'd', {name: 'p', email: 'p@home'}));
    expect(await git(dir, 'log', '--format=%an %s')).toBe('p d\nAda folder\nAda c\nAda b\nAda start\n');
    expect(await soundness(dir)).toBe('M  other.txt\n');
    expect(await journal.add(entry(fileAt(dir, 'memory/a.md')))).toMatchObject({already: true});
    expect(journal.committed.get('memory/a.md')).toBe(journal.blobId(Buffer.from('d\n')));
    expect(await journal.read(journal.keep(Buffer.from('kept')))).toEqual(Buffer.from('kept'));
    await git(dir, 'revert', '--no-edit', 'HEAD', '-q').catch(() => undefined);
    await git(dir, 'commit', '-q', '-m', 'mine');
    await journal.refresh();
    expect(ours(dir)).toEqual([]);
  });
});

describe('beside the person', () => {
  it('what a commit of theirs reverted is reported, what was ours is not', async () => {
    const dir = await repository({'memory/a.md': 'a\n', 'memory/b.md': 'b\n', 'x.txt': '1\n'});
    const journal = await open(dir);
    await journal.add(entry(write(dir, 'memory/a.md', 'A\n'), 'ours'));
    expect(await journal.refresh()).toEqual([]);
    await git(dir, 'revert', '--no-edit', 'HEAD');
    expect(await journal.refresh()).toEqual(['memory/a.md']);
    expect(await journal.refresh()).toEqual([]);
    expect(journal.committed.get('memory/a.md')).toBe(Journal.blobId(Buffer.from('a\n')));
    await git(dir, 'checkout', '-q', '--orphan', 'fresh');
    await git(dir, 'rm', '-q', '--cached', 'memory/b.md');
    await git(dir, 'commit', '-q', '-m', 'unrelated');
    expect(await journal.refresh()).toEqual(['memory/b.md']);
    await journal.add(entry(fileAt(dir, 'memory/b.md'), 'again'));
    expect(await git(dir, 'log', '--format=%s')).toBe('again\nunrelated\n');
    expect(await soundness(dir)).toBe('');
  });

  it.each([
    'MERGE_HEAD',
    'CHERRY_PICK_HEAD',
    'REVERT_HEAD',
    'BISECT_LOG',
    'index.lock',
    'HEAD.lock',
    'refs/heads/main.lock',
  ])('waits while there is %s, and says so', async name => {
    const dir = await repository({'memory/a.md': 'a\n'});
    const journal = await open(dir);
    const told: (string | undefined)[] = [];
    journal.onWaiting = why => told.push(why);
    writeFileSync(join(dir, '.git', name), '');
    const added = journal.add(entry(write(dir, 'memory/a.md', 'b\n')));
    await until(
      () => told,
      seen => seen.length > 0,
    );
    expect(journal.waiting).toContain(name.slice(name.lastIndexOf('/') + 1));
    expect(await journal.flush(10)).toBe(false);
    expect(await git(dir, 'rev-list', '--count', 'HEAD')).toBe('1\n');
    rmSync(join(dir, '.git', name));
    await added;
    expect(await journal.flush()).toBe(true);
    expect(journal.waiting).toBeUndefined();
    expect(told.at(-1)).toBeUndefined();
    expect(await soundness(dir)).toBe('');
  });

  it('waits for a rebase with conflicts, then publishes on the result', async () => {
    const dir = await repository({'x.txt': '0\n', 'memory/a.md': 'a\n'});
    await git(dir, 'checkout', '-q', '-b', 'side');
    write(dir, 'x.txt', 'side\n');
    await git(dir, 'commit', '-q', '-am', 'side');
    await git(dir, 'checkout', '-q', 'main');
    write(dir, 'x.txt', 'main\n');
    await git(dir, 'commit', '-q', '-am', 'main');
    const journal = await open(dir);
    await git(dir, 'rebase', 'side').catch(() => undefined);
    // A new file: with a changed one git itself refuses to continue.
    const added = journal.add(entry(write(dir, 'memory/n.md', 'b\n'), 'ours'));
    await until(
      () => journal.waiting,
      why => why !== undefined,
    );
    write(dir, 'x.txt', 'both\n');
    await git(dir, 'add', 'x.txt');
    await git(dir, '-c', 'core.editor=true', 'rebase', '--continue');
    await added;
    expect(await git(dir, 'log', '--format=%s')).toBe('ours\nmain\nside\nstart\n');
    expect(await soundness(dir)).toBe('');
  });

  it('stands back while a git commit of theirs has its editor open', async () => {
    const dir = await repository({'x.txt': '0\n', 'memory/a.md': 'a\n'});
    const journal = await open(dir);
    const gate = join(temporary(), 'gate');
    writeFileSync(
      join(dir, 'editor.sh'),
      `#!/bin/sh\necho mine > "$1"\ntouch ${gate}.open\nwhile [ ! -e ${gate} ]; do sleep 0.02; done\n`,
      {mode: 0o755},
    );
    write(dir, 'x.txt', '1\n');
    const theirs = git(dir, '-c', `core.editor=${join(dir, 'editor.sh')}`, 'commit', '-q', '-a');
    await until(
      () => readdirSync(join(gate, '..')),
      names => names.includes('gate.open'),
    );
    const added = journal.add(entry(write(dir, 'memory/a.md', 'b\n'), 'ours'));
    await until(
      () => journal.waiting,
      why => why !== undefined,
    );
    expect(journal.waiting).toContain('git commit');
    writeFileSync(gate, '');
    await theirs;
    await added;
    expect(await git(dir, 'log', '--format=%s')).toBe('ours\nmine\nstart\n');
  });

  it('does not wait for a git command in a repository of its own inside the home, but for one given with -C', async () => {
    const dir = await repository({'memory/a.md': 'a\n'});
    const inner = join(dir, 'workspaces/coder');
    mkdirSync(inner, {recursive: true});
    await git(inner, 'init', '-q');
    const journal = await open(dir);
    const gate = join(temporary(), 'gate');
    const editor = join(gate, '../editor.sh');
    const script = `touch ${gate}.open\nwhile [ ! -e ${gate} ]; do sleep 0.02; done\n`;
    writeFileSync(editor, `#!/bin/sh\necho mine > "$1"\n${script}`, {mode: 0o755});
    const opened = () =>
      until(
        () => readdirSync(join(gate, '..')),
        names => names.includes('gate.open'),
      );
    const first = git(inner, '-c', `core.editor=${editor}`, 'commit', '-q', '--allow-empty');
    await opened();
    await journal.add(entry(write(dir, 'memory/a.md', 'b\n'), 'ours'));
    writeFileSync(gate, '');
    await first;
    rmSync(gate);
    rmSync(`${gate}.open`);
    const second = git(inner, '-C', dir, '-c', `core.editor=${editor}`, 'commit', '-q', '--allow-empty');
    await opened();
    const added = journal.add(entry(write(dir, 'memory/a.md', 'c\n'), 'ours too'));
    await until(
      () => journal.waiting,
      why => why?.includes('git commit') === true,
    );
    writeFileSync(gate, '');
    await Promise.all([second, added]);
    expect(await git(dir, 'log', '--format=%s')).toBe('ours too\nmine\nours\nstart\n');
  });

  it("removes the unfinished objects of dead daemons when it opens, and nobody else's", async () => {
    const dir = await repository({'memory/a.md': 'a\n'});
    const objects = join(dir, '.git/objects');
    const dead = 'tmp_obj_4194303_7';
    const kept = [`tmp_obj_${process.pid}_7`, 'tmp_obj_x7Kq2P'];
    for (const name of [dead, ...kept]) writeFileSync(join(objects, name), 'half');
    await open(dir);
    expect(
      readdirSync(objects)
        .filter(name => name.startsWith('tmp_obj'))
        .sort(),
    ).toEqual(kept.sort());
  });

  it('reads large objects that git has packed', async () => {
    const dir = await repository({'memory/a.md': 'x'.repeat(3_000_000), 'memory/b.md': 'b\n'});
    await git(dir, 'gc', '-q');
    const journal = await open(dir);
    const [a, b] = [journal.committed.get('memory/a.md') ?? '', journal.committed.get('memory/b.md') ?? ''];
    const bodies = await Promise.all([b, a, '1'.repeat(40), b].map(id => journal.read(id)));
    expect(bodies.map(body => body?.length)).toEqual([2, 3_000_000, undefined, 2]);
  });

  it('does not put an older state over what the person committed meanwhile', async () => {
    const dir = await repository({'memory/a.md': 'a\n', 'memory/b.md': 'b\n'});
    const journal = await open(dir);
    writeFileSync(join(dir, '.git/BISECT_LOG'), '');
    const older = journal.add(entry(write(dir, 'memory/a.md', 'older\n'), 'older'));
    const both = [write(dir, 'memory/a.md', 'old\n'), write(dir, 'memory/b.md', 'B\n')];
    const two = journal.add(entry(both, 'two'));
    write(dir, 'memory/a.md', 'newer\n');
    await git(dir, 'commit', '-q', '-m', 'mine', '--', 'memory/a.md');
    rmSync(join(dir, '.git/BISECT_LOG'));
    expect(await older).toMatchObject({already: true});
    await two;
    expect(await git(dir, 'log', '--format=%s', '--', 'memory/a.md')).toBe('mine\nstart\n');
    expect(await git(dir, 'log', '-1', '--format=%s', '--', 'memory/b.md')).toBe('two\n');
    expect(await soundness(dir)).toBe('');
  });

  it('knows what git ignores', async () => {
    const dir = await repository({'.gitignore': 'memory/draft-*\n', 'memory/draft-1.md': 'x\n', 'memory/a.md': 'a\n'});
    await git(dir, 'add', '-f', 'memory/draft-1.md');
    await git(dir, 'commit', '-q', '-m', 'forced');
    const journal = await open(dir);
    expect(await journal.ignored(['memory/draft-1.md', 'memory/draft-2.md', 'memory/[a].md'])).toEqual(
      new Set(['memory/draft-2.md']),
    );
  });

  it.each([
    ['index.lock', 'sha1'],
    ['HEAD.lock', 'sha1'],
    ['refs/heads/main.lock', 'sha1'],
    ['refs/heads/main.lock', 'sha256'],
  ])('an old %s of nobody (%s) is named with what to do, and stays', async (name, format) => {
    const dir = await repository({'memory/a.md': 'a\n'}, `--object-format=${format}`);
    const journal = await open(dir);
    const lock = join(dir, '.git', name);
    writeFileSync(lock, '');
    utimesSync(lock, Date.now() / 1000 - 3600, Date.now() / 1000 - 3600);
    const added = journal.add(entry(write(dir, 'memory/a.md', 'b\n')));
    await until(
      () => journal.waiting,
      why => why?.includes(`rm ${lock}`) === true,
    );
    expect(readFileSync(lock, 'utf8')).toBe('');
    renameSync(lock, `${lock}.gone`);
    await added;
  });

  it('close rejects what could not be published', async () => {
    const dir = await repository({'memory/a.md': 'a\n'});
    const journal = await open(dir);
    writeFileSync(join(dir, '.git/MERGE_HEAD'), '');
    const added = journal.add(entry(write(dir, 'memory/a.md', 'b\n')));
    const rejected = expect(added).rejects.toThrow('closed');
    await journal.close();
    await rejected;
    expect(ours(dir)).toEqual([]);
  });
});

describe('commits after a known one', () => {
  it('are found however many there are: a daemon may be killed after it published thousands', async () => {
    const dir = await repository({'memory/a.md': 'start\n'});
    const start = (await git(dir, 'rev-parse', 'HEAD')).trim();
    const commits = Array.from({length: 1_100}, (_, i) => {
      const [message, text] = [`change ${i}\n\nCause: edit\n`, `${i}\n`];
      const from = i === 0 ? `from ${start}\n` : '';
      const who = `committer Ada <ada@example.org> ${1_700_000_000 + i} +0000`;
      return `commit refs/heads/main\n${who}\ndata ${message.length}\n${message}${from}M 644 inline memory/a.md\ndata ${text.length}\n${text}`;
    });
    writeFileSync(join(dir, '.git/stream'), `${commits.join('\n')}\n`);
    execFileSync('sh', ['-c', 'git fast-import --quiet < .git/stream && git reset -q --hard'], {cwd: dir});
    const journal = await open(dir);
    const found = await journal.commitsAfter(start);
    expect([found.length, found[0]?.subject, found.at(-1)?.subject]).toEqual([1_100, 'change 0', 'change 1099']);
  });
});
