import type {HomeIndex} from '../check/home-index.ts';
import type {Problem} from '../formats/common/diagnostic.ts';
import type {Disk} from '../home/disk/disk.ts';
import type {HomeJournal} from '../home/home-git.ts';
import type {ReplacedFile} from '../home/replaced-files.ts';
import type {Versions} from '../home/versions.ts';
import type {FileSnapshot} from './file-snapshot.ts';
import type {FileState, RecentSnapshots, VersionTexts} from './file-state.ts';
import type {Guard} from './guard.ts';
import type {IgnoredFiles} from './ignored-files.ts';
import type {Queue} from './queue.ts';
import type {FactsFollower, Reconcilers} from './reconciler.ts';
import type {Renames} from './renames.ts';

/** Content that was read once. The daemon acts on it when a later look finds it unchanged. */
interface Pending {
  blob: string;
  /** When it was first seen, by a clock that never goes back. */
  since: number;
  doubtful: boolean;
  /** Milliseconds it must have stayed the same. */
  needed: number;
  /** The file as it was read then. Undefined: there was no file. */
  seen: FileSnapshot | undefined;
}

/** State that the loop keeps between looks, by path. */
interface Looks {
  readonly pending: Map<string, Pending>;
  /** Files to look at again although they are unchanged, because something they depend on has changed. */
  readonly lookAgain: Set<string>;
  /** The problems last reported for each file. Files without problems are left out. */
  readonly reportedProblems: Map<string, readonly Problem[]>;
  /** Files the daemon is creating right now. What appears at their paths is not a person's edit. */
  readonly beingCreated: Set<string>;
  /** When the daemon last wrote a file. Kept until the next look, because the watch reports that write, too. */
  readonly savedAt: Map<string, number>;
  /** Replaced files into which an editor wrote after the daemon had replaced them. */
  readonly lateWrites: Map<string, ReplacedFile[]>;
  /** At the start: files that lack their last version, which was recorded and not placed, and the text it was made from. */
  readonly unplaced: Map<string, string>;
  /** Which files git ignores. */
  readonly ignored: IgnoredFiles;
  /** Files that were put in place by a rename. */
  readonly renames: Renames;
}

/** Contents of files in memory, up to a limit. */
interface FileCaches {
  /** Texts of recent versions, by blob id. */
  readonly texts: VersionTexts;
  /** The last snapshot of each file, by path. */
  readonly snapshots: RecentSnapshots;
}

/** How files of each kind are handled. Set up with the first look. */
interface Kinds {
  readonly reconcilers: Reconcilers;
  guard: Guard;
  /** Kept in step with what files say. */
  readonly followers: readonly FactsFollower[];
}

/** How far the daemon has come: starting, serving or stopping. */
export interface Phase {
  /** The cause that the journal gives for edits. Those found at the start were made while no daemon ran. */
  cause: 'recovered' | 'edit';
  /** Not all files are read yet: problems across files cannot be reported, and nothing is settled. */
  loading: boolean;
  /** The cache on disk is out of date. */
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
  readonly caches: FileCaches;
  readonly looks: Looks;
  readonly kinds: Kinds;
  /** Every version of every file, recorded before it is visible or acted on, and published to the journal. */
  readonly versions: Versions;
  readonly phase: Phase;
}
