import type {HomeIndex} from '../check/home-index.ts';
import type {Models} from '../effects/model/models.ts';
import type {Sandbox} from '../effects/sandbox/sandbox.ts';
import type {Problem} from '../files/diagnostic.ts';
import type {Report} from '../happening.ts';
import type {Queue} from '../queue.ts';
import type {Journal} from '../store/journal.ts';
import type {Replaced} from '../store/replaced.ts';
import type {Current} from './current.ts';
import type {Ignored} from './ignored.ts';
import type {Known, Latest, Recent, Texts} from './known.ts';
import type {Redaction} from './redaction.ts';
import type {Spend} from './spend.ts';
import type {Troubles} from './troubles.ts';
import type {Turns} from './turns.ts';
import type {Waits} from './waits.ts';

/** A content that was read once, and is acted on when it is still the same at a later look. */
export interface Pending {
  blob: string;
  /** When it was first seen, by a clock that never goes back. */
  since: number;
  doubtful: boolean;
  /** Milliseconds it must have stayed the same. */
  needed: number;
}

/** A version that the journal was given. */
export interface Unpublished {
  blob: string;
  cause: string;
}

/** What serving a home needs at hand. All of it is a cache of files: a new daemon builds the same from them. */
export interface Serving {
  readonly home: string;
  readonly version: string;
  /** The home's own name, as agents' addresses have it; known from the first look on. */
  name: string;
  readonly journal: Journal;
  readonly index: HomeIndex;
  readonly known: Map<string, Known>;
  readonly texts: Texts;
  readonly latest: Latest;
  /** When the daemon has written a file, until it is looked at: the watch tells of that, too. */
  readonly savedAt: Map<string, number>;
  /** Contents that this daemon has written lately, by blob. */
  readonly own: Recent;
  /** How many sessions there are of each status. */
  readonly sessions: Map<string, number>;
  /** Sessions that wait for a person to grant more. */
  readonly waits: Waits;
  /** What agents have used today. */
  readonly spend: Spend;
  /** Files to look at again although they are as they were: something that they depend on is not. */
  readonly nudged: Set<string>;
  readonly pending: Map<string, Pending>;
  /** Problems by file, as they were told last; files without any are left out. */
  readonly shown: Map<string, readonly Problem[]>;
  /** What the journal was given and has not published yet: a blob, or null for a removal. */
  readonly underWay: Map<string, string | null>;
  /** Versions, newest first, that git's history does not have yet: an editor may have been opened on one. */
  readonly unpublished: Map<string, readonly Unpublished[]>;
  /** Of what the last daemon wrote: what it was made from, which perhaps nobody committed. By `shortId`. */
  readonly madeFrom: Map<string, string>;
  /** What the last daemon wrote itself, by `shortId`: perhaps nobody committed it. */
  readonly writtenBefore: Set<string>;
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
  models: Models | undefined;
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
