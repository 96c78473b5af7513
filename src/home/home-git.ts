import type {Session} from '../formats/session/session.ts';
import type {CommittedAt} from './committed.ts';
import {excludeDerived} from './exclude.ts';
import {Journal} from './journal.ts';

/** The interface of `Journal`. The simulator has another implementation. */
export type HomeJournal = {[K in keyof Journal]: Journal[K]};

/** The daemon's access to git. */
export interface HomeGit {
  /** `earlier`: the files of a commit, as saved in the checkpoint. */
  openJournal: (earlier: Promise<CommittedAt | undefined>) => Promise<HomeJournal>;
  /** Hide derived files from `git status`. */
  excludeDerived: () => Promise<void>;
  /** Versions of a session around each commit that marked a call as started. */
  versionsWithStarts: (path: string) => Promise<Session[]>;
}

/** The git of this machine. */
export function systemGit(home: string): HomeGit {
  return {
    openJournal: earlier => Journal.open(home, {}, earlier),
    excludeDerived: () => excludeDerived(home),
    versionsWithStarts: async path => (await import('./past-starts.ts')).versionsWithStarts(home, path),
  };
}
