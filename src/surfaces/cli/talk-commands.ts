import type {Command} from 'commander';
import {sessionStatuses} from '../../formats/session/session-status.ts';
import {about} from './about.ts';
import {choiceOption} from './choice.ts';
import type {CommandContext} from './command-context.ts';
import {wholeNumber} from './number-argument.ts';

/** send, new, peek, list, show. */
export function addTalkCommands(program: Command, {home, json, finish}: CommandContext): void {
  about(
    program
      .command('send [text...]')
      .summary('write to an agent; with --wait, print its answer')
      .description('Write a message into a session; with --wait, print the answer to it.')
      .option('--to <agent>', 'to this agent: its shared session, made if there is none (default: default_agent)')
      .option('--session <id>', 'into this session: any unique part of its id')
      .option('--wait', 'until it is answered')
      .option('--no-stream', 'with --wait: the last answer alone, once it is whole')
      .option('--timeout <seconds>', 'with --wait: no longer than that', wholeNumber)
      .action(async (words: string[], options: SendFlags) =>
        finish(
          await (await import('./send.ts')).sendCommand({
            home: home(),
            words,
            to: options.to,
            session: options.session,
            wait: options.wait === true,
            stream: options.stream,
            timeoutMs: options.timeout === undefined ? undefined : options.timeout * 1000,
            json: json(),
          }),
        ),
      ),
    {
      examples: [
        ['agentdir send "Is Redis up?"', 'to the default agent'],
        ['agentdir send "Plan the day" --to planner-001 --wait', 'and its answer, word by word'],
        ['git diff | agentdir send --to reviewer --wait', 'the message from a pipe; so does: agentdir send -'],
        ['answer=$(agentdir send "Is Redis up?" --wait --no-stream)', 'the answer alone, once it is whole'],
      ],
      exits: {
        1: 'with --wait, it failed or took too long',
        3: 'with --wait, it waits for a person',
        4: 'the session has errors',
        5: 'with --wait, no daemon runs',
      },
      json: 'value',
    },
  );
  about(
    program
      .command('new <agent>')
      .summary('a new session, to write into')
      .description('A new session of an agent, without messages: a file to write into.')
      .option('--shared', 'what is sent to the agent comes here')
      .action(async (agent: string, options: {shared?: boolean}) =>
        finish(
          await (await import('./new.ts')).newSessionCommand({
            ...{home: home(), agent, shared: options.shared === true, json: json()},
          }),
        ),
      ),
    {
      examples: [
        ['agentdir new planner-001', 'prints where it is'],
        ['$EDITOR "$(agentdir new planner-001 --json | jq -r .path)"', 'and begin to write'],
        ['agentdir new planner-001 --shared', 'from now on, what is sent to planner-001 comes there'],
      ],
      exits: {4: 'the template has errors'},
      json: 'value',
    },
  );
  about(
    program
      .command('peek')
      .summary('what agents are saying, or said last')
      .description('What agents are saying, or said last.')
      .option('--to <agent>', 'only this agent')
      .option('--session <id>', 'only this session: any unique part of its id')
      .option('-f, --follow', 'word by word as it comes, until Ctrl-C')
      .option('-n, --count <number>', 'of so many sessions (default: 3)', wholeNumber)
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
        ['agentdir peek', 'the last words of three sessions'],
        ['agentdir peek -f', 'all that is said, as it is said'],
        ['agentdir peek --to planner-001', 'only of one agent'],
        ['agentdir peek -f --json | jq -r .text', 'for a program: an event a line'],
      ],
      json: 'value, or lines with -f',
    },
  );
  about(
    program
      .command('list')
      .alias('ls')
      .summary('agents and sessions with their status')
      .description('Agents and sessions with their status, the latest first.')
      .option('--agent <name>', 'only this agent')
      .addOption(choiceOption('--status <status>', 'only such sessions', [...sessionStatuses, 'new', 'wrong']))
      .action(async (options: {agent?: string; status?: string}) =>
        finish(
          (await import('./list.ts')).listCommand({
            home: home(),
            agent: options.agent,
            status: options.status,
            json: json(),
          }),
        ),
      ),
    {
      examples: [
        ['agentdir ls', 'all agents, and the latest sessions'],
        ['agentdir ls --status error', 'what went wrong'],
        ["agentdir ls --json | jq -r '.sessions[].file'", 'the files of all sessions'],
      ],
      json: 'value',
    },
  );
  about(
    program
      .command('show <id>')
      .summary('a session to read, or a task, approval or agent')
      .description('A session to read, or a task, approval or agent: by any unique part of its id.')
      .action(async (id: string) =>
        finish(await (await import('./show.ts')).showCommand({home: home(), id, json: json()})),
      ),
    {
      examples: [
        ['agentdir show planner-001-7k2m | less -R', 'a conversation'],
        ['agentdir show redis-check', 'a task, with its notes'],
        ['agentdir show planner-001', 'an agent'],
      ],
      exits: {4: 'its file has errors'},
      json: 'value',
      names: {id: 'any'},
    },
  );
}

interface SendFlags {
  to?: string;
  session?: string;
  wait?: boolean;
  stream: boolean;
  timeout?: number;
}
