import {UserError} from '../../formats/common/errors.ts';

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

/** The home, or `otherwise` outside of any. A home that was named and is none is still an error. */
export function homeOr(home: () => string, otherwise: () => string | undefined): string | undefined {
  try {
    return home();
  } catch (error) {
    if (!(error instanceof UserError) || !error.message.startsWith('no home here')) throw error;
    return otherwise();
  }
}
