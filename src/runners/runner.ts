import type {Answer, ModelRequest} from '../effects/model/answer.ts';
import type {CallPlace, HomeServices, SandboxMode, ToolResult} from '../effects/tool/tool.ts';
import type {WantedCall} from '../effects/tools/provider.ts';
import type {ModelChoice} from '../formats/model-choice.ts';
import type {Playbook} from '../formats/playbook.ts';
import type {Settings} from '../formats/settings.ts';

/** A question to a model, as plain values. */
export interface ModelQuestion extends Omit<ModelRequest, 'signal' | 'onText'> {
  choice: ModelChoice;
  /** Only for the model "playbook". */
  playbooks: readonly Playbook[];
}

/** Controls and receives a streamed answer. */
export interface AnswerStream {
  signal: AbortSignal;
  /** Called with each piece of the answer. */
  onText: (delta: string) => void;
}

/** A call that may run, as plain values. */
export interface RunnableCall extends WantedCall {
  /** A person has approved this call. Otherwise a call that asks is refused. */
  approved: boolean;
  place: CallPlace;
  /** `sandbox:` in agentdir.yaml. */
  sandbox: SandboxMode;
  /** Connector settings, and the stable name of a message, which repeated calls share. */
  outside: {settings: Pick<Settings, 'slack' | 'mail' | 'webhooks'>; messageName: string};
}

/** The daemon services that a running call may use. */
export interface DaemonServices extends HomeServices {
  /** Durably record an outgoing message. Throws if it cannot be written. */
  sent: (file: string, record: Readonly<Record<string, unknown>>) => Promise<void>;
  /** Every process of the call has ended, although its result is not known yet. */
  ended: () => void;
}

/**
 * Runs questions to models and tool calls, in this process or another. A runner never writes files of the home: it asks
 * the daemon through `DaemonServices`. The daemon marks a call as started before it hands the call over, once.
 */
export interface Runner {
  /** Ask once. Must not throw: failures are part of the answer. After `signal`, resolves soon with `aborted`. */
  ask(question: ModelQuestion, stream: AnswerStream): Promise<Answer>;
  /** Must not throw. Once it resolves, no part of the call still runs, also after `signal`. The result has no secrets. */
  execute(call: RunnableCall, services: DaemonServices, signal: AbortSignal): Promise<ToolResult>;
}
