import type {CallEffects} from '../../src/agents/world/effects.ts';
import type {Answer, ModelRequest, Reply} from '../../src/effects/model/answer.ts';
import type {Ask, ToolContext, ToolResult} from '../../src/effects/tool/tool.ts';
import {builtInTools} from '../../src/effects/tools/prepare-call.ts';
import type {ToolProvider} from '../../src/effects/tools/provider.ts';
import type {SimulatedProcess} from './process.ts';
import type {SeededRandom} from './random.ts';
import type {SimulatedTime} from './time.ts';

/** What a message may ask of the scripted model: `do:run-ask` in its text. */
export const WISHES = ['say', 'run-free', 'run-ask', 'run-both', 'send', 'task', 'slow', 'busy', 'list'] as const;
/** `delegate` is only in histories about that: others must stay as they are. */
export type Wish = (typeof WISHES)[number] | 'delegate';

/** A command that was really run: once is right, whatever crashed. */
export interface RunCommand {
  session: string;
  call: string;
  at: number;
}

/** What agents did outside of the home's files, and the numbers that make each of their words unique. Survives crashes. */
export interface AgentWorld {
  runs: Map<string, RunCommand[]>;
  count: number;
}

/** A model that does as the last message of a person or an agent tells it, then says that it is done. */
export class ScriptedModel {
  readonly #world: AgentWorld;
  readonly #process: SimulatedProcess;
  readonly #time: SimulatedTime;
  readonly #random: SeededRandom;

  constructor(world: AgentWorld, process: SimulatedProcess, time: SimulatedTime, random: SeededRandom) {
    this.#world = world;
    this.#process = process;
    this.#time = time;
    this.#random = random;
  }

  ask = (_choice: unknown, request: ModelRequest): Promise<Answer> =>
    this.#process.while(
      new Promise(resolve => {
        const [wish, answers] = wishOf(request);
        const atLength = request.session.at(-1)?.role === 'tool_result' && isAtLength(request);
        const slow = wish === 'slow' ? 4_000 : this.#random.int(60);
        const cancel = this.#time.after(5 + slow, () => resolve(this.#answer(wish, answers, atLength)), this.#process);
        request.signal.addEventListener('abort', () => {
          cancel();
          resolve({aborted: true});
        });
      }),
    );

  #answer(wish: Wish, answers: number, atLength: boolean): Answer {
    const n = ++this.#world.count;
    if (wish === 'busy' && this.#random.chance(0.5)) return {retry: 'busy', kind: 'busy', after: 700};
    const call = (name: string, args: object) => ({id: `c${n}${name[0]}`, name, arguments: JSON.stringify(args)});
    const calls = {
      'run-free': [call('execute_command', {command: `free-${n}`})],
      'run-ask': [call('execute_command', {command: `ask-${n}`})],
      'run-both': [call('list_agents', {}), call('execute_command', {command: `ask-${n}`})],
      send: [call('send_message', {to: 'helper', content: `a${n} from another agent`})],
      task: [call('create_task', {title: `a${n} to be done`, assignee: 'helper'})],
      delegate: [
        call('task', {agent_type: 'helper', description: `a${n} do:list at length`}),
        {...call('task', {agent_type: 'helper', description: `a${n} do:slow`, wait: n % 2 === 0}), id: `c${n}u`},
      ],
      list: [call('list_agents', {})],
      say: [],
      slow: [],
      busy: [],
    }[wish];
    const isLast = answers > 0 || calls.length === 0;
    const usage = {input_tokens: 10, output_tokens: 5};
    const reply: Reply = isLast
      ? {
          content: `a${n} is done${atLength ? ', all of it'.repeat(80) : ''}`,
          calls: [],
          model: 'scripted',
          usage,
          cut: false,
        }
      : {content: `a${n} begins`, calls, model: 'scripted', usage, cut: false};
    return {reply};
  }
}

/** The wish of the last message that is nobody's own, and how many answers were given to it. */
function wishOf({session}: ModelRequest): [Wish, number] {
  const at = session.findLastIndex(({role}) => role === 'user');
  const text = session[at]?.content ?? '';
  const wish = text.includes('do:delegate') ? 'delegate' : (WISHES.find(each => text.includes(`do:${each}`)) ?? 'say');
  return [wish, session.slice(at + 1).filter(({role}) => role === 'assistant').length];
}

/** Whether the answer is to be so long that a summary is asked for. */
function isAtLength({session}: ModelRequest): boolean {
  return session[0]?.content?.includes('at length') === true;
}

const nothing = async () => ({notes: [], commit: undefined});

/** Commands `free-N` run at once, `ask-N` when a person said so. Other tools are the real ones. */
export function scriptedTools(
  world: AgentWorld,
  process: SimulatedProcess,
  time: SimulatedTime,
  random: SeededRandom,
): ToolProvider {
  const run = (command: string, {session, call}: ToolContext): Promise<ToolResult> => {
    process.step();
    const runs = world.runs.get(command) ?? [];
    world.runs.set(command, [...runs, {session, call, at: time.now}]);
    return process.while(
      new Promise(resolve => {
        const ms = random.chance(0.3) ? random.int(3_000) : random.int(20);
        time.after(ms, () => resolve({success: true, exit_code: 0, stdout: `ran ${command}`}), process);
      }),
    );
  };
  return {
    ...builtInTools,
    prepare: async (call, context) => {
      if (call.name !== 'execute_command') return builtInTools.prepare(call, context);
      const {command = ''} = JSON.parse(call.arguments) as {command?: string};
      return {
        effect: 'write',
        asks: command.startsWith('ask-') || context.retries !== false,
        readOnly: false,
        unconfined: false,
        ask: async () => askAbout(command, context),
        execute: () => run(command, context),
      };
    },
  };
}

/** Nothing runs outside of the simulation, and there are no workspaces. */
export const noEffects: CallEffects = {
  tidyAfter: () => {},
  endLeftovers: async () => 0,
  openWorkspace: nothing as unknown as CallEffects['openWorkspace'],
  keepFound: nothing as unknown as CallEffects['keepFound'],
  commitCall: nothing as unknown as CallEffects['commitCall'],
  wholeState: async () => ({problem: 'there are no workspaces'}),
};

function askAbout(command: string, {retries}: ToolContext): Ask {
  return {
    type: retries ? 'retry' : 'terminal_command',
    title: `command: ${command}`,
    risk: {level: 'LOW', factors: []},
    why: ['the simulation asks for it'],
    parts: [{label: 'Command', text: command, language: 'bash'}],
    edits: {argument: 'command', label: 'Command'},
    basis: {},
    always: {none: 'not in a simulation'},
  };
}
