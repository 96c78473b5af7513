import type {HomeIndex} from '../check/home-index.ts';
import type {Models} from '../effects/model/models.ts';
import type {Sandbox} from '../effects/sandbox/sandbox.ts';
import type {ToolFailure} from '../effects/tools/tool.ts';
import type {Problem} from '../files/diagnostic.ts';
import type {TaskFile} from '../files/task/task.ts';
import type {Report} from '../happening.ts';
import type {TaskQuery} from '../query/task-query.ts';
import type {Queue} from '../queue.ts';
import type {Clock} from '../store/clock.ts';
import type {Disk} from '../store/disk.ts';
import type {HomeJournal} from '../store/home-git.ts';
import type {Random} from '../store/random.ts';
import type {Replaced} from '../store/replaced.ts';
import type {Versions} from '../store/versions/versions.ts';
import type {Approvals} from './approvals/approvals.ts';
import type {StartedCalls} from './calls/started-calls.ts';
import type {Current} from './current.ts';
import type {Ignored} from './ignored.ts';
import type {Inboxes} from './inbox/inboxes.ts';
import type {Schedules} from './inbox/schedules.ts';
import type {Known, Latest, Texts} from './known.ts';
import type {Mail} from './mail/mail.ts';
import type {Redaction} from './redaction.ts';
import type {Renames} from './renames.ts';
import type {Seen} from './seen.ts';
import type {TasksHeard} from './tasks/task-news.ts';
import type {Troubles} from './troubles.ts';
import type {Segments} from './turns/segments.ts';
import type {Spend} from './turns/spend.ts';
import type {Turns} from './turns/turns.ts';
import type {Waits} from './turns/waits.ts';
import type {World} from './world.ts';

/** A content that was read once, and is acted on when it is still the same at a later look. */
interface Pending {
  blob: string;
  /** When it was first seen, by a clock that never goes back. */
  since: number;
  doubtful: boolean;
  /** Milliseconds it must have stayed the same. */
  needed: number;
  /** As it was read then; undefined: it was not there. */
  seen: Seen | undefined;
}

/** A note that is to be added to a file of the memory. */
export interface Note {
  text: string;
  agent: string;
  approval: string | undefined;
  written: () => void;
}

/** The file with a change, and what the journal says of it. */
export interface TaskEdited {
  text: string;
  words: string;
  tasks: readonly string[];
}

/** A change that an agent makes to a task file. */
export interface TaskEdit {
  agent: string;
  /** Called with the file as it is then. Undefined: it is so already. A failure is what the agent is told. */
  make: (file: TaskFile) => TaskEdited | ToolFailure | undefined;
  over: (failed?: ToolFailure) => void;
}

/** What serving a home needs at hand. All of it is a cache of files: a new daemon builds the same from them. */
export interface Serving {
  /** Where the home is, for messages and for what is not reached through `disk`: workspaces, git, the sandbox. */
  readonly home: string;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly random: Random;
  readonly world: World;
  readonly version: string;
  /** The home's own name, as agents' addresses have it; known from the first look on. */
  name: string;
  readonly journal: HomeJournal;
  /** Every version of every file, recorded before it is visible or acted on, and published to the journal. */
  readonly versions: Versions;
  readonly index: HomeIndex;
  readonly known: Map<string, Known>;
  readonly texts: Texts;
  readonly latest: Latest;
  /** When the daemon has written a file, until it is looked at: the watch tells of that, too. */
  readonly savedAt: Map<string, number>;
  /** Files that were put in place by a rename. */
  readonly renames: Renames;
  /** How many sessions there are of each status. */
  readonly sessions: Map<string, number>;
  /** Sessions that wait for a person to grant more. */
  readonly waits: Waits;
  /** What calls wait for, beyond what the files say. */
  readonly approvals: Approvals;
  /** Calls that were started once, whatever the files say by now. */
  readonly started: StartedCalls;
  /** Agents whose workspace was found, or made, from the repository that their template names. */
  readonly cloned: Set<string>;
  /** Notes to be added to files of the memory, by path. */
  readonly notes: Map<string, Note[]>;
  /** What is on its way into sessions. */
  readonly mail: Mail;
  /** Inboxes, as far as they are read. */
  readonly inboxes: Inboxes;
  /** Messages at fixed times. */
  readonly schedules: Schedules;
  /** Older messages of sessions. */
  readonly segments: Segments;
  /** What agents change in task files, by path. */
  readonly edits: Map<string, readonly TaskEdit[]>;
  /** What is known of tasks beyond their files. */
  readonly tasks: TasksHeard;
  /** Mentions in answers of a session that are delivered, until the session says so: by path. */
  readonly woken: Map<string, Set<string>>;
  /** What answers said of tasks and is being written to their files, by the path of the session. */
  readonly ending: Map<string, Map<string, 'under way' | 'over'>>;
  /** Sessions of agents whose task is done, by path. */
  readonly closing: Set<string>;
  /** What agents have used today. */
  readonly spend: Spend;
  /** Files to look at again although they are as they were: something that they depend on is not. */
  readonly nudged: Set<string>;
  readonly pending: Map<string, Pending>;
  /** Problems by file, as they were told last; files without any are left out. */
  readonly shown: Map<string, readonly Problem[]>;
  /** Files that we are just making beside the one that is looked at, by path: what is there is nobody's edit. */
  readonly making: Set<string>;
  /** At the start: files that lack their last version, which was recorded and not placed, and the text it was made from. */
  readonly unplaced: Map<string, string>;
  /** Bytes that an editor wrote into a file the daemon had just replaced. */
  readonly late: Map<string, Replaced[]>;
  readonly ignored: Ignored;
  readonly troubles: Troubles;
  /** This run of the daemon: calls that it starts carry it. */
  readonly run: string;
  readonly once: boolean;
  readonly turns: Turns;
  readonly current: Current;
  /** Loaded with the first question. */
  models: Pick<Models, 'ask'> | undefined;
  /** SQL over tasks; loaded with the first query. */
  queries: TaskQuery | undefined;
  /** Which model answers by default, in words; known soon after the start. */
  model: string | undefined;
  /** How commands are confined. */
  readonly sandbox: Sandbox;
  /** The same in words, once it is known. */
  confinement: string | undefined;
  readonly queue: Queue;
  /** Whatever is written down, and is not a person's own, goes through this first. */
  readonly redact: Redaction;
  /** Redacts by itself. */
  readonly report: Report;
  /** Whether changes are seen at once. */
  watching: () => boolean;
  /** What the journal says of edits: those found at the start were made while no daemon ran. */
  cause: 'recovered' | 'edit';
  /** Not all files are read yet: what is wrong across files cannot be told, and nothing is completed. */
  loading: boolean;
  /** What is known of some file is not what the cache has. */
  unsaved: boolean;
  /** Do not wait for files to hold still: the daemon is stopping. */
  hurry: boolean;
  /** The settings are others than before. */
  onSettings: () => void;
  /** Problems or needs are not what was written down last. */
  onChanged: () => void;
}
