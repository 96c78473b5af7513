/** What commands are told by whoever reads the command line. */
export interface CommandContext {
  home: () => string;
  json: () => boolean;
  finish: (code: number) => void;
}

/** What the program is, for commands that make homes or start it again. */
export interface ProgramInfo {
  version: string;
  /** Where a new home is copied from: the package. */
  source: string;
  /** The program's own file. */
  self: string;
  serve: (options: {home: string; once: boolean; json: boolean}) => Promise<number>;
}
