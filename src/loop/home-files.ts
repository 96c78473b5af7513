import type {HomeIndex} from '../check/home-index.ts';
import type {Problem} from '../formats/common/diagnostic.ts';
import type {Disk} from '../home/disk/disk.ts';
import type {HomeJournal} from '../home/home-git.ts';
import type {ReplacedFile} from '../home/replaced.ts';
import type {Versions} from '../home/versions.ts';
import type {FileSnapshot} from './file-snapshot.ts';
import type {FileState, Latest, Texts} from './file-state.ts';
import type {Guard} from './guard.ts';
import type {Ignored} from './ignored.ts';
import type {Queue} from './queue.ts';
import type {FactsFollower, Reconcilers} from './reconciler.ts';
import type {Renames} from './renames.ts';

/** A content that was read once, and is acted on when a later look finds it unchanged. */
interface Pending {
  blob: string;
  /** When it was first seen, by a clock that never goes back. */
  since: number;
  doubtful: boolean;
  /** Milliseconds it must have stayed the same. */
  needed: number;
  /** As it was read then; undefined: it was not there. */
  seen: FileSnapshot | undefined;
}

/** What the loop keeps between looks, by path. */
interface Looks {
  readonly pending: Map<string, Pending>;
  /** Files to look at again although they are unchanged: something that they depend on has changed. */
  readonly nudged: Set<string>;
  /** Problems as they were reported last; files without any are left out. */
  readonly shown: Map<string, readonly Problem[]>;
  /** Files that we are just making beside the one that is looked at: what is there is nobody's edit. */
  readonly making: Set<string>;
  /** When the daemon has written a file, until it is looked at: the watch reports that write, too. */
  readonly savedAt: Map<string, number>;
  /** Bytes that an editor wrote into a file the daemon had just replaced. */
  readonly late: Map<string, ReplacedFile[]>;
  /** At the start: files that lack their last version, which was recorded and not placed, and the text it was made from. */
  readonly unplaced: Map<string, string>;
  /** Which files git ignores. */
  readonly ignored: Ignored;
  /** Files that were put in place by a rename. */
  readonly renames: Renames;
}

/** What is kept in memory of files, up to some size. */
interface Kept {
  /** Texts of recent versions, by blob. */
  readonly texts: Texts;
  /** Files as they were parsed last, by path. */
  readonly latest: Latest;
}

/** What is done about files, by kind. Set up with the first look. */
interface Kinds {
  readonly reconcilers: Reconcilers;
  guard: Guard;
  /** Kept in step with what files say. */
  readonly followers: readonly FactsFollower[];
}

/** How far serving the home is. */
export interface Phase {
  /** What the journal says of edits: those found at the start were made while no daemon ran. */
  cause: 'recovered' | 'edit';
  /** Not all files are read yet: problems across files cannot be reported, and nothing is settled. */
  loading: boolean;
  /** What is known of some file is not what the cache has. */
  unsaved: boolean;
  /** Do not wait for files to hold still: the daemon is stopping. */
  hurry: boolean;
  /** Work until nothing is left to do, then end. */
  readonly once: boolean;
}

/** The files of the home as the loop knows them: a cache, which a new daemon builds again from the files. */
export interface HomeFiles {
  /** Where the home is, for messages and for what is not reached through `disk`: workspaces, git, the sandbox. */
  readonly home: string;
  /** The home on disk, with the clock. */
  readonly disk: Disk;
  /** The home's own name, as agents' addresses have it; known from the first look on. */
  name: string;
  readonly journal: HomeJournal;
  readonly queue: Queue;
  readonly index: HomeIndex;
  readonly known: Map<string, FileState>;
  readonly kept: Kept;
  readonly looks: Looks;
  readonly kinds: Kinds;
  /** Every version of every file, recorded before it is visible or acted on, and published to the journal. */
  readonly versions: Versions;
  readonly phase: Phase;
}
