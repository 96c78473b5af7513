import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {join} from 'node:path';
import {expect, it, onTestFinished, vi} from 'vitest';
import {ownProcesses} from '../../src/store/git/git.ts';
import {Importer} from '../../src/store/git/git-import.ts';
import {GitProcesses} from '../../src/store/git/git-processes.ts';
import {existsProc} from '../../src/store/process-life.ts';
import {repository} from './repository.ts';

it.runIf(existsProc())("tells a person's fast-import from the idle one of another Agentdir process", async () => {
  const dir = await repository({'a.md': 'a\n'});
  const dirs = {own: join(dir, '.git'), common: join(dir, '.git')};
  const processes = new GitProcesses(dirs, dir);
  const importer = new Importer(dir, dirs, 'sha1');
  onTestFinished(() => importer.close());
  importer.begin(undefined);
  await importer.finish();
  const ours = [...ownProcesses].map(String);
  expect(ours).toHaveLength(1);
  // Another process does not know the id.
  ownProcesses.clear();
  expect(processes.running()).toEqual(new Map());

  const theirs = spawn('git', ['fast-import', '--quiet'], {cwd: dir});
  onTestFinished(async () => {
    theirs.stdin.end();
    if (theirs.exitCode === null) await once(theirs, 'close');
  });
  await vi.waitFor(
    () => expect(processes.running()).toEqual(new Map([[String(theirs.pid), 'git fast-import']])),
    5_000,
  );
});
