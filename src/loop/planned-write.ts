import type {FileContent, FileSnapshot} from './file-snapshot.ts';

/** The journal entry of a change that the daemon writes. */
export interface DaemonEntry {
  words: string;
  cause: string;
  /** Ids of the tasks it concerns. */
  tasks?: readonly string[];
  /** The author, if an agent made the change. */
  agent?: string;
  /** Trailers besides those derived from the file. */
  trailers?: readonly [string, string][];
  /** Shares the commit of a change before it: of the last one about the same call or approval (`step`), or of the very last. */
  joins?: 'step' | 'last';
  /** Calls and approvals that must never start again. */
  started?: readonly string[];
}

/** An intermediate version that is only journalled: the same write gives the file a later version. */
export interface EarlierVersion {
  text: string;
  entry: DaemonEntry;
}

/** A text to write into one file, with its journal entry. */
export interface PlannedWrite {
  text: string;
  entry: DaemonEntry;
  /** Versions on the way to `text`, oldest first. Each is a commit of its own. */
  earlier?: readonly EarlierVersion[];
  /** Makes the snapshot of the written file, where the caller can avoid parsing it. */
  readBack?: (found: FileContent) => FileSnapshot;
  /** Called as soon as the text is in the file. */
  saved?: () => void;
  /** Called once the new version is accepted: start the work that follows from it. */
  done?: () => void;
  /** Call `settle` again with the new version. */
  again?: boolean;
}
