import type {Session} from '../formats/session/session.ts';
import type {CommittedAt} from './committed.ts';
import {excludeDerived} from './exclude.ts';
import {Journal} from './journal.ts';

/** What the daemon needs of the journal, whoever keeps it: `Journal` is the one in git. */
export type HomeJournal = {[K in keyof Journal]: Journal[K]};

/** The person's git, as far as the daemon asks for it. */
export interface HomeGit {
  /** `earlier`: what a commit held, if an earlier run left word. */
  openJournal: (earlier: Promise<CommittedAt | undefined>) => Promise<HomeJournal>;
  /** What the daemon derives never shows in `git status`. */
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
