import {UserError} from '../../formats/common/errors.ts';
import {homeOfInstance} from '../../home/locate.ts';

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

/** The home; outside any, the one that an earlier run of the instance made. Undefined: there is none. */
export function homeOrOfInstance(home: () => string, instance: string): string | undefined {
  try {
    return home();
  } catch (error) {
    // A home that was named and is none is still an error.
    if (!(error instanceof UserError) || !error.message.startsWith('no home here')) throw error;
    return homeOfInstance(process.cwd(), instance);
  }
}

/** As `homeOrOfInstance`, but throws if there is none. */
export function homeWithInstance(home: () => string, instance = 'default'): string {
  return homeOrOfInstance(home, instance) ?? home();
}
