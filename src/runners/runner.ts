import type {Answer, ModelRequest} from '../effects/model/answer.ts';
import type {CallPlace, HomeServices, SandboxMode, ToolResult} from '../effects/tool/tool.ts';
import type {WantedCall} from '../effects/tools/provider.ts';
import type {ModelChoice} from '../formats/model-choice.ts';
import type {Playbook} from '../formats/playbook.ts';
import type {Settings} from '../formats/settings.ts';

/** What a model is asked: plain values. */
export interface ModelQuestion extends Omit<ModelRequest, 'signal' | 'onText'> {
  choice: ModelChoice;
  /** For the model "playbook"; empty for all others. */
  playbooks: readonly Playbook[];
}

/** What goes on while a model answers. */
export interface AnswerStream {
  signal: AbortSignal;
  /** Text of the answer as it comes. */
  onText: (delta: string) => void;
}

/** A call that may run: plain values. */
export interface RunnableCall extends WantedCall {
  /** A person has approved this very call. Without that, a call that asks is refused. */
  approved: boolean;
  place: CallPlace;
  /** `sandbox:` in agentdir.yaml. */
  sandbox: SandboxMode;
  /** How people outside are reached, and the name of a message that the same call has whenever it is made. */
  outside: {settings: Pick<Settings, 'slack' | 'mail' | 'webhooks'>; messageName: string};
}

/** What a running call asks of the daemon. */
export interface DaemonServices extends HomeServices {
  /** Record what was sent to somebody outside, durably. Throws if it cannot be written. */
  sent: (file: string, record: Readonly<Record<string, unknown>>) => Promise<void>;
}

/**
 * Where questions to models and tool calls run: in this process, or in another. A runner never writes files of the home: it asks the daemon
 * through `DaemonServices`. The daemon has recorded a call as started before it hands it over, and hands it over once.
 */
export interface Runner {
  /** One try. Must not throw: what went wrong is part of the answer. `signal` ends it soon, as `aborted`. */
  ask(question: ModelQuestion, stream: AnswerStream): Promise<Answer>;
  /** Must not throw. When it resolves, nothing of the call runs any more, also after `signal`. The result has no secrets. */
  execute(call: RunnableCall, services: DaemonServices, signal: AbortSignal): Promise<ToolResult>;
}
