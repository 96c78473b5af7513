import type {Json} from './fields.ts';

/** What a verified request comes to. */
export type Event =
  /**
   * A line for the inbox. `ids`: what it must not have come under before; the record has the first as `id`. `answer` is what the
   * sender wants to hear.
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
