import type {Command} from 'commander';
import {memberOf} from '../../formats/run.ts';
import {sessionStatuses} from '../../formats/session/session-status.ts';
import {about} from './about.ts';
import type {CommandContext, ProgramInfo} from './command-context.ts';
import {choiceOption, wholeNumber} from './option-values.ts';

/** chat, send, new, peek, list, show. */
export function addTalkCommands(program: Command, {self}: ProgramInfo, {home, json, finish}: CommandContext): void {
  about(
    program
      .command('chat')
      .summary('talk to agents in the terminal')
      .description(
        'Talk to agents: conversations, approvals and tasks on one screen. In a pipe or on a dumb terminal, a prompt with plain lines.',
      )
      .option('--plain', 'plain lines, for screen readers')
      .action(async (options: {plain?: boolean}) =>
        finish(
          await (await import('./chat.ts')).chatCommand({
            ...{home: home(), program: self, plain: options.plain === true, json: json()},
          }),
        ),
      ),
    {
      examples: [
        ['agentdir chat', 'same as plain `agentdir` inside a home; /help lists commands and keys'],
        ["printf '@planner-001 Is Redis up?\\n' | agentdir chat", 'send each line and print its answer'],
      ],
      exits: {
        1: 'in a pipe, an agent failed or a line was wrong',
        3: 'in a pipe, an agent waits for your decision, or is paused or stopped',
        5: 'in a pipe, no daemon is running',
      },
      json: {none: 'programs use agentdir send --wait or agentdir peek -f'},
    },
  );
  about(
    program
      .command('send [text...]')
      .summary('send a message to an agent')
      .description(
        'Send a message to an agent or session. With --wait, print the answer. Without a text, open your editor, or read a pipe.',
      )
      .option('--to <agent>', 'this agent: its shared session, created if missing (default: default_agent)')
      .option('--session <id>', 'this session: any unique part of its id')
      .option('--task', 'in a fresh session for this message alone, which ends with a result')
      .option('--wait', 'wait for the answer')
      .option('--no-stream', 'with --wait: print only the complete last answer')
      .option('--timeout <seconds>', 'with --wait: give up after this time', wholeNumber)
      .action(async (words: string[], options: SendFlags) =>
        finish(
          await (await import('./send.ts')).sendCommand({
            home: home(),
            words,
            to: options.to,
            session: options.session,
            task: options.task === true,
            wait: options.wait === true,
            stream: options.stream,
            timeoutMs: options.timeout === undefined ? undefined : options.timeout * 1000,
            json: json(),
          }),
        ),
      ),
    {
      examples: [
        ['agentdir send --to coder@pr-123 --wait', 'write it in your editor, then stream the answer'],
        ['git diff | agentdir send --to reviewer --wait', 'read the message from a pipe; also: agentdir send -'],
        [
          'agentdir send "Check the backups" --to executor-001 --task --wait',
          'in a fresh session, for this request alone',
        ],
        ['answer=$(agentdir send "Is Redis up?" --wait --no-stream)', 'to the default agent; only the complete answer'],
      ],
      exits: {
        1: 'with --wait, the agent failed or took too long',
        3: 'with --wait, the agent waits for your decision, or is paused or stopped',
        4: 'the session has errors',
        5: 'with --wait, no daemon is running',
      },
      json: 'value',
    },
  );
  about(
    program
      .command('new <agent>')
      .summary('create a session, or an agent with channel and document')
      .description(
        'Create an empty session for an agent. With --context, add the agent to a workflow instance, so that it has a channel and a document; so does --instance, if the instance lacks the agent. An agent without a template is made from general-purpose.',
      )
      .option('--shared', 'receive messages sent to the agent')
      .option('--context', 'with channel and document: as NAME@INSTANCE')
      .option('--instance <name>', 'its workflow instance, created if missing (with --context: default)')
      .action(async (agent: string, options: {shared?: boolean; context?: boolean; instance?: string}) => {
        const {hasMember, newMemberCommand, newSessionCommand} = await import('./new.ts');
        const shared = options.shared === true;
        const {name = agent, instance = options.instance} = (options.instance === undefined && memberOf(agent)) || {};
        if (!options.context && (options.instance === undefined || hasMember(home(), name, options.instance))) {
          const whole = instance === undefined ? name : `${name}@${instance}`;
          return finish(await newSessionCommand({home: home(), agent: whole, shared, json: json()}));
        }
        return finish(
          await newMemberCommand({home: home(), agent: name, instance: instance ?? 'default', json: json()}),
        );
      }),
    {
      examples: [
        ['agentdir new planner-001', 'prints the path'],
        ['$EDITOR "$(agentdir new planner-001 --json | jq -r .path)"', 'open it in your editor'],
        ['agentdir new reviewer@pr-123', 'a session of an agent of a workflow instance'],
        ['agentdir new helper --context', 'the agent helper@default, with channel and document'],
      ],
      exits: {1: 'there is such an agent or session already', 4: 'the template has errors'},
      json: 'value',
    },
  );
  about(
    program
      .command('peek')
      .summary('show the latest output of agents')
      .option('--to <agent>', 'only this agent')
      .option('--session <id>', 'only this session: any unique part of its id')
      .option('-f, --follow', 'stream output until Ctrl-C')
      .option('-n, --count <number>', 'number of sessions (default: 3)', wholeNumber)
      .action(async (options: {to?: string; session?: string; follow?: boolean; count?: number}) =>
        finish(
          await (await import('./peek.ts')).peekCommand({
            ...{home: home(), to: options.to, session: options.session, count: options.count},
            ...{follow: options.follow === true, json: json()},
          }),
        ),
      ),
    {
      examples: [
        ['agentdir peek', 'the latest output of three sessions'],
        ['agentdir peek -f', 'stream all output'],
        ['agentdir peek --to planner-001', 'one agent only'],
        ['agentdir peek -f --json | jq -r .text', 'for programs: one event per line'],
      ],
      json: 'value, or lines with -f',
    },
  );
  about(
    program
      .command('list')
      .alias('ls')
      .summary('list agents and sessions')
      .description(
        'List agents, those of workflow instances included, and sessions with their status, latest first. SOURCE is the workflow file. Ephemeral agents that are done are hidden.',
      )
      .option('--all', 'also ephemeral agents that are done')
      .option('--agent <name>', 'only this agent')
      .addOption(
        choiceOption('--status <status>', 'only sessions with this status', [...sessionStatuses, 'new', 'wrong']),
      )
      .action(async (options: {agent?: string; status?: string; all?: boolean}) =>
        finish(
          await (await import('./list.ts')).listCommand({
            home: home(),
            agent: options.agent,
            status: options.status,
            all: options.all === true,
            json: json(),
          }),
        ),
      ),
    {
      examples: [
        ['agentdir ls', 'all agents and the latest sessions'],
        ['agentdir ls --status error', 'failed sessions'],
        ['agentdir ls --agent reviewer@pr-123', 'one agent of a workflow instance'],
        ["agentdir ls --json | jq -r '.sessions[].file'", 'the files of all sessions'],
      ],
      json: 'value',
    },
  );
  about(
    program
      .command('show <id>')
      .summary('show a session, task, approval or agent')
      .description('Show a session, task, approval or agent, by any unique part of its id.')
      .option('--context', 'of a session: exactly what its model would be sent now, with the size of each part')
      .action(async (id: string, options: {context?: boolean}) =>
        finish(
          options.context
            ? await (await import('./show-context.ts')).showContextCommand({home: home(), id, json: json()})
            : await (await import('./show.ts')).showCommand({home: home(), id, json: json()}),
        ),
      ),
    {
      examples: [
        ['agentdir show planner-001-7k2m | less -R', 'a conversation'],
        ['agentdir show planner-001 --context', 'what the model of its session would be sent now'],
        ['agentdir show redis-check', 'a task, with its notes'],
        ['agentdir show planner-001', 'an agent'],
      ],
      exits: {4: 'the file has errors'},
      json: 'value',
      names: {id: 'any'},
    },
  );
}

interface SendFlags {
  to?: string;
  session?: string;
  task?: boolean;
  wait?: boolean;
  stream: boolean;
  timeout?: number;
}
