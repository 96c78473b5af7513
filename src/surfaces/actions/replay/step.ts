import type {Session} from '../../../formats/session/session.ts';
import type {Call, Message} from '../../../formats/session/session-schema.ts';
import type {MessageEntry, VersionSource} from './entry.ts';

/** A step that the engine would have done differently. `at`: index of the message. */
export interface Oddity {
  at: number | undefined;
  call?: Call;
  field: string;
  recorded: string;
  replayed: string;
  what: string;
}

export interface VersionStep {
  by: VersionSource;
  path: string;
  before: Session | undefined;
  after: Session;
  /** Includes segments. */
  entries: readonly MessageEntry[];
  messages: readonly Message[];
  /** Number of leading messages that are shared with the former version. */
  settled: number;
  template: TemplateNow | undefined;
}

export interface StepResult {
  entries: MessageEntry[];
  oddities: Oddity[];
  /** Indexes of new messages. */
  added: number[];
}

/** Template values, in all committed versions. */
export interface TemplateNow {
  agent_type: ReadonlySet<string | undefined>;
  model: ReadonlySet<string>;
  system_prompt: ReadonlySet<string>;
}
