import type {Line} from './commits.ts';
import type {PostedMessage} from './slack.ts';

/** A step of the story, with the new lines of a file. */
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
  /** The box is ticked automatically. */
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
  /** `git log --oneline --stat` of the shown commits. */
  log: readonly string[];
}

/** Tells the story to people or programs. The signal cuts pauses short. */
export interface StoryTeller {
  begin: (home: string) => Promise<void>;
  showStep: (told: StoryStep) => Promise<void>;
  turn: (turn: Turn) => Promise<void>;
  /** Reports a problem beside the story. */
  aside: (text: string) => void;
  end: (ending: Ending) => Promise<void>;
  /** It was stopped before its end. */
  stopped: (home: string) => void;
}
