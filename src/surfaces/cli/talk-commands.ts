import type {Command} from 'commander';
import {whole} from './number-argument.ts';

export interface Surroundings {
  home: () => string;
  json: () => boolean;
  finish: (code: number) => void;
}

/** send, new, peek, list, show. */
export function addTalking(program: Command, {home, json, finish}: Surroundings): void {
  program
    .command('send [text...]')
    .description('write a message into a session; with --wait, print the answer to it')
    .option('--to <agent>', 'to this agent: its shared session, made if there is none (default: default_agent)')
    .option('--session <id>', 'into this session: any unique part of its id')
    .option('--wait', 'until it is answered: exit 3 if it waits for a person, 1 if it failed, 5 without a daemon')
    .option('--no-stream', 'with --wait: the last answer alone, once it is whole')
    .option('--timeout <seconds>', 'with --wait: no longer than that', whole)
    .addHelpText(
      'after',
      examples(
        'agentdir send "Is Redis up?"                  to the default agent',
        'agentdir send "Plan the day" --to planner-001 --wait',
        'git diff | agentdir send --to reviewer --wait  the message from a pipe; so does: agentdir send -',
        'answer=$(agentdir send "Is Redis up?" --wait --no-stream)  the answer alone, once it is whole',
      ),
    )
    .action(async (words: string[], options: SendFlags) =>
      finish(
        await (await import('./send.ts')).send({
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
    );
  program
    .command('new <agent>')
    .description('a new session of an agent, without messages: a file to write into')
    .option('--shared', 'what is sent to the agent comes here')
    .addHelpText('after', examples('$EDITOR "$(agentdir new planner-001 --json | jq -r .path)"'))
    .action(async (agent: string, options: {shared?: boolean}) =>
      finish(
        await (await import('./new.ts')).newSession({
          home: home(),
          agent,
          shared: options.shared === true,
          json: json(),
        }),
      ),
    );
  program
    .command('peek')
    .description('what agents are saying, or said last')
    .option('--to <agent>', 'only this agent')
    .option('--session <id>', 'only this session: any unique part of its id')
    .option('-f, --follow', 'word by word as it comes, until Ctrl-C')
    .option('-n, --count <number>', 'of so many sessions (default: 3)', whole)
    .addHelpText(
      'after',
      examples('agentdir peek -f', 'agentdir peek --to planner-001', 'agentdir peek -f --json | jq -r .text'),
    )
    .action(async (options: {to?: string; session?: string; follow?: boolean; count?: number}) =>
      finish(
        await (await import('./peek.ts')).peek({
          home: home(),
          to: options.to,
          session: options.session,
          follow: options.follow === true,
          count: options.count,
          json: json(),
        }),
      ),
    );
  program
    .command('list')
    .alias('ls')
    .description('agents and sessions with their status, the latest first')
    .option('--agent <name>', 'only this agent')
    .option(
      '--status <status>',
      'only sessions that are active, waiting, sleeping, paused, completed, error, new or wrong',
    )
    .addHelpText('after', examples('agentdir ls --status error', "agentdir ls --json | jq -r '.sessions[].file'"))
    .action(async (options: {agent?: string; status?: string}) =>
      finish(
        (await import('./list.ts')).list({
          home: home(),
          agent: options.agent,
          status: options.status,
          json: json(),
        }),
      ),
    );
  program
    .command('show <id>')
    .description('a session to read, or a task, approval or agent: by any unique part of its id')
    .addHelpText('after', examples('agentdir show planner-001-7k2m | less -R', 'agentdir show redis-check'))
    .action(async (id: string) => finish(await (await import('./show.ts')).show({home: home(), id, json: json()})));
}

interface SendFlags {
  to?: string;
  session?: string;
  wait?: boolean;
  stream: boolean;
  timeout?: number;
}

export function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map(line => `  ${line}`).join('\n')}`;
}
