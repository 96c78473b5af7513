import type {HomeIndex} from '../check/home-index.ts';
import type {Problem} from '../files/diagnostic.ts';
import type {Queue} from '../queue.ts';
import type {Aside} from '../store/aside.ts';
import type {Journal} from '../store/journal.ts';
import type {Replaced} from '../store/replaced.ts';
import type {Guard} from './guard.ts';
import type {Ignored} from './ignored.ts';
import type {Known, Latest, Recent, Texts} from './known.ts';
import type {FactsFollower, Reconcilers} from './reconciler.ts';
import type {Seen} from './seen.ts';

/** A content that was read once, and is acted on when a later look finds it unchanged. */
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

/** A version that the journal was given. */
export interface Unpublished {
  blob: string;
  cause: string;
  byPerson: boolean;
  /** What HEAD had of the file then: whatever it has beyond that came later. */
  over: string | undefined;
}

/** Versions of files beyond those that git has, for telling an edit from a stale buffer. */
interface Versions {
  /** What the journal was given, kept until git has it. */
  readonly aside: Aside;
  /** Contents that this daemon has written lately, by blob. */
  readonly own: Recent;
  readonly ignored: Ignored;
  /** Bytes that an editor wrote into a file the daemon had just replaced. */
  readonly late: Map<string, Replaced[]>;
  /** What the journal was given and has not published yet: a blob, or null for a removal. */
  readonly underWay: Map<string, string | null>;
  /** Versions, newest first, that git's history does not have yet: an editor may have been opened on one. */
  readonly unpublished: Map<string, readonly Unpublished[]>;
  /** The last version that was published above what a person had committed since it was made. */
  readonly crossed: Map<string, Pick<Unpublished, 'blob' | 'over'>>;
  /** Versions that a person's own commit superseded before they were published. An editor may still have one. */
  readonly overtaken: Map<string, readonly Unpublished[]>;
  readonly earlier: EarlierDaemons;
}

/** What earlier daemons left. */
interface EarlierDaemons {
  /** Versions, newest first: those that history has not are missing there. By their names or the beginnings of them. */
  readonly left: Map<string, readonly {blob: string; ours: boolean}[]>;
  /** Of what the last daemon wrote: what it was made from, which perhaps nobody committed. By `shortId`. */
  readonly madeFrom: Map<string, string>;
  /** What the last daemon wrote itself, by `shortId`: perhaps nobody committed it. */
  readonly writtenBefore: Set<string>;
  /** The last of that by its path, and when it was written, until the file is looked at. */
  readonly leftBefore: Map<string, {blob: string; at: number}>;
  /** Files that a person committed while no daemon ran, and the blob that each had before. */
  readonly committedOver: Map<string, string>;
}

/** The files of the home as the loop knows them: a cache, which a new daemon builds again from the files. */
export interface HomeFiles {
  readonly home: string;
  /** The home's own name, as agents' addresses have it; known from the first look on. */
  name: string;
  readonly journal: Journal;
  readonly queue: Queue;
  readonly index: HomeIndex;
  readonly known: Map<string, Known>;
  readonly texts: Texts;
  readonly latest: Latest;
  readonly looks: Looks;
  readonly kinds: Kinds;
  readonly versions: Versions;
  readonly phase: Phase;
}
