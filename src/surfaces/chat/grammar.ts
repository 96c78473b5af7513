import {nearest} from '../../formats/common/diagnostic.ts';
import {isSlashCommand, slashCommands} from './slash-commands.ts';

/** What a person wants with a line typed into chat. */
export type Intent =
  | {do: 'nothing'}
  /** A message to whoever the view belongs to. */
  | {do: 'say'; text: string}
  | {do: 'ask'; agent: string; text: string}
  /** Without an agent: the active one. */
  | {do: 'delegate'; agent?: string; text: string}
  | {do: 'switch'; to: string}
  | {do: 'command'; name: string; args: string[]; rest: string}
  | {do: 'refuse'; why: string; hint: string};

const ADDRESS = /^@([A-Za-z0-9][A-Za-z0-9._@/-]*)[,:]?(?:\s+([\s\S]*))?$/;
const COMMAND = /^\/([a-z][a-z-]*)(?:\s+([\s\S]*))?$/;
const TASK = /^\/task(?:\s+([\s\S]*))?$/;

/**
 * Reads a line: `@agent text`, `@agent /task text`, `/command`, or a message for the active agent. A message that begins with a space is
 * never a command.
 *
 * @example readIntent('@coder /task look at the log') // {do: 'delegate', agent: 'coder', text: 'look at the log'}
 */
export function readIntent(input: string): Intent {
  const text = input.trim();
  if (text === '') return {do: 'nothing'};
  if (/^\s/.test(input)) return {do: 'say', text};
  const [, agent, said] = ADDRESS.exec(text) ?? [];
  if (agent !== undefined) return toAgent(agent.replace(/[.@/-]+$/, ''), said?.trim() ?? '');
  const [, name, rest = ''] = COMMAND.exec(text) ?? [];
  if (name === undefined) return {do: 'say', text};
  if (name === 'task') return rest.trim() === '' ? NO_TASK : {do: 'delegate', text: rest.trim()};
  if (!isSlashCommand(name)) return unknown(name);
  return {do: 'command', name, args: rest.split(/\s+/).filter(Boolean), rest: rest.trim()};
}

const NO_TASK: Intent = {do: 'refuse', why: 'what is the task?', hint: '@coder /task Look at the log'};

function toAgent(agent: string, said: string): Intent {
  if (said === '') return {do: 'switch', to: agent};
  const task = TASK.exec(said);
  if (!task) return {do: 'ask', agent, text: said};
  const text = task[1]?.trim() ?? '';
  return text === '' ? NO_TASK : {do: 'delegate', agent, text};
}

function unknown(name: string): Intent {
  const near = nearest(
    name,
    slashCommands.map(command => command.name),
  );
  return {
    do: 'refuse',
    why: `no command /${name}`,
    hint: `${near ? `did you mean /${near}? ` : ''}see /help; to send it as a message, put a space in front`,
  };
}

/** The one with this id, or else the only one whose id has this part. Ids of tasks begin with the id of their parent. */
export function byIdOrPart<T extends {id: string}>(all: readonly T[], wanted: string): T | undefined {
  const fitting = all.filter(({id}) => id === wanted || (wanted.length > 3 && id.includes(wanted)));
  return fitting.find(({id}) => id === wanted) ?? (fitting.length === 1 ? fitting[0] : undefined);
}
