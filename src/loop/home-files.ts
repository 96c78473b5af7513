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

/** New content that may still change. The daemon acts on it when a later look finds it unchanged. */
interface Pending {
  blob: string;
  /** When it was first seen, by a clock that never goes back. */
  since: number;
  /** The content may be half saved. */
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
  /** Files the daemon is writing right now. A change at their paths is not a person's edit. */
  readonly beingCreated: Set<string>;
  /** When the daemon last wrote a file. Kept until the next look, because the watch reports that write, too. */
  readonly savedAt: Map<string, number>;
  /** Files whose next version waits for the end of a person's rebase or merge: when to try again. */
  readonly waitsForGit: Map<string, number>;
  /** Replaced files into which an editor wrote after the daemon had replaced them. */
  readonly lateWrites: Map<string, ReplacedFile[]>;
  /** Files whose last version was recorded and never placed by an earlier run, with the text that version was made from. */
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

/** Handlers of each kind of file. Set up with the first look. */
interface Kinds {
  readonly reconcilers: Reconcilers;
  guard: Guard;
  readonly followers: readonly FactsFollower[];
}

/** The phase of the daemon: starting, serving or stopping. */
export interface Phase {
  /** The `Cause` trailer of edits. `recovered`: the edit was made while no daemon ran. */
  cause: 'recovered' | 'edit';
  /** Not all files are read yet: problems across files cannot be reported, and nothing is settled. */
  loading: boolean;
  /** The checkpoint on disk is out of date. */
  unsaved: boolean;
  /** The daemon is stopping: do not wait for files to become stable. */
  hurry: boolean;
  /** Work until nothing is left to do, then exit. */
  readonly once: boolean;
}

/** The loop's state of the files of the home: a cache that a new daemon rebuilds from the files. */
export interface HomeFiles {
  /** The path of the home, for messages and for access without `disk`: workspaces, git, the sandbox. */
  readonly home: string;
  /** The home on disk, with the clock. */
  readonly disk: Disk;
  /** The home's name in agents' addresses. Set at the first look. */
  name: string;
  readonly journal: HomeJournal;
  readonly queue: Queue;
  readonly index: HomeIndex;
  readonly known: Map<string, FileState>;
  readonly caches: FileCaches;
  readonly looks: Looks;
  readonly kinds: Kinds;
  /** Records every version of every file before it is visible or acted on, and publishes it to git. */
  readonly versions: Versions;
  readonly phase: Phase;
}
