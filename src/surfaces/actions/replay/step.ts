import type {Session} from '../../../formats/session/session.ts';
import type {Call, Message} from '../../../formats/session/session-schema.ts';
import type {MessageEntry, VersionSource} from './entry.ts';

/** Something that the engine would have done otherwise. `at`: the place of the message among all. */
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
  /** With those in segments. */
  entries: readonly MessageEntry[];
  messages: readonly Message[];
  /** So many of the first were there before, in the same segments. */
  settled: number;
  template: TemplateNow | undefined;
}

/** What a commit of the daemon's is made of. */
export interface StepResult {
  entries: MessageEntry[];
  oddities: Oddity[];
  /** Places of what is new. */
  added: number[];
}

/** What a session takes over from its template, in all versions that the journal has. */
export interface TemplateNow {
  agent_type: ReadonlySet<string | undefined>;
  model: ReadonlySet<string>;
  system_prompt: ReadonlySet<string>;
}
