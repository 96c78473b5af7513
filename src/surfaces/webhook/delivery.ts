import type {Json} from './fields.ts';

/** The result of a verified request. */
export type Event =
  /**
   * A line for the inbox, unless one of `ids` is known; the record's `id` is the first. `answer` is the response to the
   * sender.
   */
  | {record: Json; ids: readonly string[]; answer?: Json}
  /** Nothing to deliver. */
  | {nothing: string; answer?: Json}
  | {garbage: string};

export interface Delivery {
  header: (name: string) => string | undefined;
  body: Buffer;
  ids: readonly string[];
  /** ISO 8601. */
  now: string;
}
