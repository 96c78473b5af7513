import type {Line} from './commits.ts';
import type {PostedMessage} from './slack.ts';

/** Something that happened, with what is new in a file because of it. */
export interface StoryStep {
  step: string;
  title: string;
  /** In the home. */
  path: string;
  lines: readonly Line[];
  /** Inboxes are not in git. */
  commit?: string;
  author?: string;
  more?: string | undefined;
}

/** A box that a person is to tick. */
export interface Turn {
  box: number;
  of: number;
  id: string;
  /** Absolute. */
  file: string;
  line: number;
  title: string;
  /** Nobody is waited for. */
  auto: boolean;
}

export interface StoryTask {
  id: string | undefined;
  box: string;
  depth: number;
  assignee: string;
  title: string;
  note: string | undefined;
}

export interface Ending {
  home: string;
  tasks: readonly StoryTask[];
  sent: readonly PostedMessage[];
  commits: number;
  /** Of the commits that were told of: `git log --oneline --stat`. */
  log: readonly string[];
}

/** Tells the story: to people at a readable pace, or to programs. What is awaited may be cut short by the signal. */
export interface StoryTeller {
  begin: (home: string) => Promise<void>;
  showStep: (told: StoryStep) => Promise<void>;
  turn: (turn: Turn) => Promise<void>;
  /** Something beside the story: a problem of a file, trouble of the daemon. */
  aside: (text: string) => void;
  end: (ending: Ending) => Promise<void>;
  /** It was stopped before its end. */
  stopped: (home: string) => void;
}
