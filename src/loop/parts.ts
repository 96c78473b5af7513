import type {Report} from '../formats/daemon-event.ts';
import type {HomeFiles} from './home-files.ts';
import type {Troubles} from './troubles.ts';

/** Removes secrets from text that is recorded or shown. */
interface Redact {
  text(text: string): string;
  value<T>(value: T): T;
}

/** Output to people: events, troubles and status files. */
export interface Reports {
  /** Redacts the event itself. */
  readonly report: Report;
  readonly troubles: Troubles;
  /** Must be applied to all recorded text that no person wrote. */
  readonly redact: Redact;
  /** Call when problems, needs or the status have changed, to rewrite the status files. */
  readonly changed: () => void;
}

/** The two parts of the daemon that the loop works with. */
export interface Loop {
  readonly files: HomeFiles;
  readonly reports: Reports;
}
