import type {Command} from 'commander';
import {about} from './about.ts';
import type {CommandContext} from './command-context.ts';
import {wholeNumber} from './option-values.ts';

/** approvals, approve, reject. */
export function addApprovalCommands(program: Command, {home, json, finish}: CommandContext): void {
  about(
    program
      .command('approvals [id]')
      .summary('list requests for approval')
      .description('List pending requests, oldest first, or show one in full.')
      .option('--all', 'include decided requests, with their outcome')
      .action(async (id: string | undefined, options: {all?: boolean}) =>
        finish(
          (await import('./approvals.ts')).approvalsCommand({
            home: home(),
            id,
            all: options.all === true,
            json: json(),
          }),
        ),
      ),
    {
      examples: [
        ['agentdir approvals', 'all pending requests'],
        ['agentdir approvals 8228 | less -R', 'one request in full'],
        ['agentdir approvals --all', 'include decided requests'],
        ["agentdir approvals --json | jq -r '.[].id'", 'their ids'],
      ],
      exits: {3: 'a request is pending', 4: 'the queue has errors'},
      json: 'value',
      names: {id: 'approval'},
    },
  );
  about(
    program
      .command('approve [ids...]')
      .summary('approve requests')
      .description(
        'Approve requests, by any unique part of their id. Without an id, show each pending request and ask.',
      )
      .option('--follow', 'without an id: stay, and show the next request when it comes')
      .option('--edit', 'edit the command or text first; your version runs')
      .option('--network', 'let the command use the network')
      .option('--host', 'let the command run outside the sandbox, where it can do whatever you can')
      .option('--always', 'also add the narrowest rule that allows it')
      .option('--answer <text>', 'answer a question')
      .option('--sign', 'sign the approval with ssh-keygen')
      .option(
        '--key <file>',
        'with --sign: use this key (default: the signing key of git, else the only key in ~/.ssh)',
      )
      .option('--wait', 'wait until it has run')
      .option('--timeout <seconds>', 'with --wait: give up after this time', wholeNumber)
      .action(async (ids: string[], options: ApproveFlags) =>
        finish(
          await (await import('./approve.ts')).approveCommand({
            home: home(),
            ids,
            follow: options.follow === true,
            edit: options.edit === true,
            always: options.always === true,
            grants: {...(options.network && {network: true}), ...(options.host && {sandbox: 'host'})},
            sign: options.sign === true || options.key !== undefined,
            key: options.key,
            answer: options.answer,
            json: json(),
            ...waiting(options),
          }),
        ),
      ),
    {
      examples: [
        ['agentdir approve', 'ask about each pending request'],
        ['agentdir approve --follow', 'in a terminal beside your work: ask about each request when it comes'],
        ['agentdir approve 8228 77aa --wait', 'both, or none if an id is unknown; until they have run'],
        ['agentdir approve 5f01 --answer "the blue one"', 'answer a question'],
      ],
      exits: {
        1: 'the decision could not be written; with --wait, the command failed',
        3: 'you quit or skipped: a request is still pending',
        4: 'the queue has errors',
        5: 'with --wait, no daemon is running',
      },
      json: 'value',
      names: {ids: 'approval'},
    },
  );
  about(
    program
      .command('reject <ids...>')
      .summary('reject requests')
      .description('Reject requests, by any unique part of their id. The agent gets the reason.')
      .option('--reason <text>', 'the reason; on a terminal you are asked for it')
      .option('--wait', 'wait until the daemon has recorded it')
      .option('--timeout <seconds>', 'with --wait: give up after this time', wholeNumber)
      .action(async (ids: string[], options: WaitFlags & {reason?: string}) =>
        finish(
          await (await import('./reject.ts')).rejectCommand({
            home: home(),
            ids,
            reason: options.reason,
            json: json(),
            ...waiting(options),
          }),
        ),
      ),
    {
      examples: [
        ['agentdir reject 8228 --reason "not on a Friday"', 'the agent gets the reason'],
        ['agentdir reject 8228 77aa --wait', 'both; wait until the daemon has recorded it'],
      ],
      exits: {
        1: 'the decision could not be written',
        3: 'you pressed Ctrl-C: the request is still pending',
        4: 'the queue has errors',
        5: 'with --wait, no daemon is running',
      },
      json: 'value',
      names: {ids: 'approval'},
    },
  );
}

interface WaitFlags {
  wait?: boolean;
  timeout?: number;
}

interface ApproveFlags extends WaitFlags {
  follow?: boolean;
  edit?: boolean;
  network?: boolean;
  host?: boolean;
  always?: boolean;
  answer?: string;
  sign?: boolean;
  key?: string;
}

function waiting({wait, timeout}: WaitFlags): {wait: boolean; timeoutMs: number | undefined} {
  return {wait: wait === true, timeoutMs: timeout === undefined ? undefined : timeout * 1000};
}
