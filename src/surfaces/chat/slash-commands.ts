/** A command of chat. `runs`: the command of the shell that it is, with what it needs of the view. */
export interface SlashCommand {
  name: string;
  usage: string;
  about: string;
  /** What its argument names, for completion. */
  names?: 'agent' | 'session' | 'approval' | 'view' | 'any';
  /** Runs `agentdir NAME`; `session`: with the active session, if none is given. */
  runs?: 'shell' | 'session';
  /** Other names. */
  also?: readonly string[];
}

/** In the order of /help. */
export const slashCommands: readonly SlashCommand[] = [
  {name: 'task', usage: '/task TEXT', about: 'delegate to the active agent; @agent /task TEXT: to another'},
  {
    name: 'switch',
    usage: '/switch [AGENT|SESSION|#CHANNEL]',
    about: 'talk to another agent, or in a workflow channel; alone: list them',
    names: 'view',
  },
  {name: 'new', usage: '/new', about: 'start a new session of the active agent'},
  {name: 'cancel', usage: '/cancel', about: 'cancel the turn under way (Esc)'},
  {
    name: 'agents',
    usage: '/agents [list|start|stop|restart|health] [NAME]',
    about: 'agents and their state',
    names: 'agent',
    runs: 'shell',
  },
  {name: 'agent', usage: '/agent [NAME]', about: 'definitions of agents', names: 'agent', runs: 'shell'},
  {name: 'tasks', usage: '/tasks [SQL]', about: 'tasks (dashboard: Ctrl+A d)', runs: 'shell'},
  {
    name: 'approvals',
    usage: '/approvals [ID]',
    about: 'what waits for your approval',
    names: 'approval',
    runs: 'shell',
  },
  {name: 'approve', usage: '/approve ID', about: 'approve a request', names: 'approval', runs: 'shell'},
  {name: 'reject', usage: '/reject ID [REASON]', about: 'reject a request', names: 'approval'},
  {name: 'details', usage: '/details', about: 'show arguments and results of the last calls (Ctrl+O)'},
  {
    name: 'compact',
    usage: '/compact',
    about: 'put a checkpoint in the place of older messages',
    names: 'session',
    runs: 'session',
  },
  {name: 'cost', usage: '/cost [--by agent|model|day]', about: 'tokens and cost so far', runs: 'shell'},
  {name: 'sessions', usage: '/sessions', about: 'all sessions', runs: 'shell'},
  {
    name: 'show',
    usage: '/show [ID]',
    about: 'show a session, task, approval or agent in full',
    names: 'any',
    runs: 'session',
  },
  {name: 'pause', usage: '/pause', about: 'pause the active session', names: 'session', runs: 'session'},
  {name: 'resume', usage: '/resume', about: 'resume it', names: 'session', runs: 'session'},
  {name: 'log', usage: '/log [NAME]', about: 'what happened', names: 'any', runs: 'shell'},
  {name: 'status', usage: '/status', about: 'the daemon, and what waits for you', runs: 'shell'},
  {name: 'check', usage: '/check', about: 'problems of files', runs: 'shell'},
  {name: 'models', usage: '/models', about: 'which models are usable', runs: 'shell'},
  {name: 'start', usage: '/start', about: 'start the daemon in the background'},
  {name: 'help', usage: '/help', about: 'this list'},
  {name: 'quit', usage: '/quit', about: 'leave; the daemon keeps running', also: ['exit']},
];

const byName = new Map(slashCommands.flatMap(each => [each.name, ...(each.also ?? [])].map(name => [name, each])));

export function slashCommand(name: string): SlashCommand | undefined {
  return byName.get(name);
}

export function isSlashCommand(name: string): boolean {
  return byName.has(name);
}

export const KEYS_HELP: readonly (readonly [keys: string, about: string])[] = [
  ['Enter', 'send; Alt+Enter, Ctrl+J or a \\ at the end: a new line'],
  ['Tab', 'complete agents, commands and ids'],
  ['Up, Down', 'earlier inputs'],
  ['Esc', 'cancel the turn under way'],
  ['Ctrl+A 1-9, n, p', 'switch to an agent by number, the next, the previous'],
  ['Ctrl+A c', 'a new session of the active agent'],
  ['Ctrl+A d', 'the task dashboard'],
  ['Ctrl+A a', 'decide about the request that is shown, whatever the prompt holds'],
  ['Ctrl+O', 'details of the last calls'],
  ['Ctrl+L, Ctrl+Z', 'draw the screen again; back to the shell for a while'],
  ['Ctrl+C twice', 'leave; the daemon keeps running'],
];
