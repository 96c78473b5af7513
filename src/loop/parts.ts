import type {Report} from '../formats/daemon-event.ts';
import type {HomeFiles} from './home-files.ts';
import type {Troubles} from './troubles.ts';

/** Takes secrets out of what is written down or shown. */
interface Redact {
  text(text: string): string;
  value<T>(value: T): T;
}

/** How people hear of what happens. */
export interface Reports {
  /** Redacts by itself. */
  readonly report: Report;
  readonly troubles: Troubles;
  /** Everything that is written down, other than what a person wrote, goes through this first. */
  readonly redact: Redact;
  /** Problems, needs or the status have changed since they were written down last. */
  readonly changed: () => void;
}

/** The two parts of the daemon that the loop works with. */
export interface Loop {
  readonly files: HomeFiles;
  readonly reports: Reports;
}
