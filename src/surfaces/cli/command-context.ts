export interface CommandContext {
  home: () => string;
  json: () => boolean;
  finish: (code: number) => void;
}

export interface ProgramInfo {
  version: string;
  /** The package folder, the source of new homes. */
  source: string;
  /** The program's own file. */
  self: string;
  serve: (options: {home: string; once: boolean; json: boolean}) => Promise<number>;
}
