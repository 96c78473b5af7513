import {slashCommand, slashCommands} from './slash-commands.ts';

/** Names that can be completed. */
export interface KnownNames {
  agents: readonly string[];
  sessions: readonly string[];
  approvals: readonly string[];
  channels: readonly string[];
}

export interface Completion {
  /** The text with the longest common beginning filled in. */
  text: string;
  cursor: number;
  /** All that fit, if there are several. */
  options: readonly string[];
}

/** Completes the word before the cursor: `/comm`, `@age`, or the name that a command takes. */
export function complete(text: string, cursor: number, names: KnownNames): Completion | undefined {
  const before = text.slice(0, cursor);
  const [word = ''] = /\S*$/.exec(before) ?? [];
  const start = cursor - word.length;
  const fitting = candidates(before.slice(0, start), word, names).filter(each => each.startsWith(word));
  const [first] = fitting;
  if (first === undefined) return undefined;
  const common = fitting.reduce(commonStart);
  const filled = fitting.length === 1 ? `${first} ` : common;
  const rest = text.slice(cursor);
  return {
    text: `${text.slice(0, start)}${filled}${filled.endsWith(' ') && rest.startsWith(' ') ? rest.slice(1) : rest}`,
    cursor: start + filled.length,
    options: fitting.length > 1 ? fitting : [],
  };
}

function candidates(before: string, word: string, names: KnownNames): readonly string[] {
  if (word.startsWith('@')) return names.agents.map(name => `@${name}`);
  if (before.trim() === '') return word.startsWith('/') ? slashCommands.map(({name}) => `/${name}`) : [];
  if (word.startsWith('/') && /^@\S+\s+$/.test(before)) return ['/task'];
  const [, name = '', given = ''] = /^\/([a-z]+)\s+(.*)$/s.exec(before) ?? [];
  switch (slashCommand(name)?.names) {
    case 'agent':
      return name === 'agents' && given === '' ? ['list', 'start', 'stop', 'restart', 'health'] : names.agents;
    case 'session':
      return names.sessions;
    case 'approval':
      return names.approvals;
    case 'view':
      return [...names.agents, ...names.channels.map(channel => `#${channel}`), ...names.sessions];
    case 'any':
      return [...names.sessions, ...names.approvals, ...names.agents];
    default:
      return [];
  }
}

function commonStart(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return a.slice(0, length);
}
