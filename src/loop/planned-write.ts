import type {FileContent, FileSnapshot} from './file-snapshot.ts';

/** What the journal says of something that the daemon wrote. */
export interface DaemonEntry {
  words: string;
  cause: string;
  /** Ids of the tasks it concerns. */
  tasks?: readonly string[];
  /** Whose doing it is, if an agent's. */
  agent?: string;
  /** Besides those that follow from the file. */
  trailers?: readonly [string, string][];
  /** Calls and approvals that must never start again. */
  started?: readonly string[];
}

/** A version of a file that only the journal gets: the file itself goes on to a later one in the same write. */
export interface EarlierVersion {
  text: string;
  entry: DaemonEntry;
}

/** A text the daemon is to write into one file, with its journal entry. */
export interface PlannedWrite {
  text: string;
  entry: DaemonEntry;
  /** Versions on the way to `text`, oldest first. Each is a commit of its own. */
  earlier?: readonly EarlierVersion[];
  /** How the written file is read again, where the caller has it parsed already. */
  readBack?: (found: FileContent) => FileSnapshot;
  /** Called as soon as the text is in the file. */
  saved?: () => void;
  /** Called once the new version is accepted: begins what follows from it. */
  done?: () => void;
  /** Settle the new version at once: more may follow from it. */
  again?: boolean;
}
