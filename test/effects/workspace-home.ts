import {chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import type {CallCommit, CommitResult, Workspace} from '../../src/effects/workspace/repository.ts';
import {commitCall, keepFound, openWorkspace} from '../../src/effects/workspace/repository.ts';
import {git, temporary} from '../cli/run.ts';

/** A workspace of agent `coder`, and what a person sees of it. */
export interface TestWorkspace extends Workspace {
  dir: string;
  gitDir: string;
  /** A call that does this, as the engine runs one. */
  call: (id: string, work: () => void, paths?: readonly string[], more?: Partial<CallCommit>) => Promise<CommitResult>;
  put: (files: Record<string, string | {link: string} | {run: string} | undefined>) => void;
  git: (...args: string[]) => Promise<string>;
}

export function workspaceIn(home: string, agent = 'coder'): TestWorkspace {
  const dir = join(home, 'workspaces', agent);
  const workspace = {home, agent, name: 'home'};
  return {
    ...workspace,
    dir,
    gitDir: join(home, '.workspaces', `${agent}.git`),
    call: async (id, work, paths, more = {}) => {
      const call = {session: 'coder-1', call: id, words: `call ${id}`, ...more};
      await keepFound(workspace, paths, call);
      work();
      return commitCall(workspace, call, paths);
    },
    put: files => {
      for (const [path, what] of Object.entries(files)) {
        const full = join(dir, path);
        rmSync(full, {recursive: true, force: true});
        if (what === undefined) continue;
        mkdirSync(dirname(full), {recursive: true});
        if (typeof what === 'string') writeFileSync(full, what);
        else if ('link' in what) symlinkSync(what.link, full);
        else {
          writeFileSync(full, what.run);
          chmodSync(full, 0o755);
        }
      }
    },
    git: (...args) => git(dir, ...args),
  };
}

/** Open, in a home of its own. */
export async function newWorkspace(): Promise<TestWorkspace> {
  const workspace = workspaceIn(temporary());
  await openWorkspace(workspace);
  return workspace;
}
