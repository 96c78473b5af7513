import type {Command} from 'commander';
import {about} from './about.ts';
import type {CommandContext} from './command-context.ts';
import {wholeNumber} from './number-argument.ts';

/** approvals, approve, reject. */
export function addApprovalCommands(program: Command, {home, json, finish}: CommandContext): void {
  about(
    program
      .command('approvals [id]')
      .summary('what waits for your decision')
      .description('What waits for your decision, oldest first, or all about one request.')
      .option('--all', 'decided ones too, with what became of them')
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
        ['agentdir approvals', 'all that waits'],
        ['agentdir approvals 8228 | less -R', 'all there is to know about one'],
        ['agentdir approvals --all', 'with those decided'],
        ["agentdir approvals --json | jq -r '.[].id'", 'their ids'],
      ],
      exits: {3: 'something waits', 4: 'the queue has errors'},
      json: 'value',
      names: {id: 'approval'},
    },
  );
  about(
    program
      .command('approve [ids...]')
      .summary('say yes; without an id, one request after the other')
      .description('Say yes, by any unique part of an id; without one, shows one request after the other and asks.')
      .option('--edit', 'change the command or text in your editor first; what you leave there is what runs')
      .option('--always', 'also add the narrowest rule that would have allowed it')
      .option('--answer <text>', 'to a question')
      .option('--sign', 'prove that it was you, with ssh-keygen')
      .option('--key <file>', 'with --sign: this key (default: the one git signs with, else the only one in ~/.ssh)')
      .option('--wait', 'until it has run')
      .option('--timeout <seconds>', 'with --wait: no longer than that', wholeNumber)
      .action(async (ids: string[], options: ApproveFlags) =>
        finish(
          await (await import('./approve.ts')).approveCommand({
            home: home(),
            ids,
            edit: options.edit === true,
            always: options.always === true,
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
        ['agentdir approve', 'one after the other; it asks'],
        ['agentdir approve 8228 77aa --wait', 'both, or none if one is unknown; until they have run'],
        ['agentdir approve 8228 --edit', 'run something else instead'],
        ['agentdir approve 5f01 --answer "the blue one"', 'answer a question'],
      ],
      exits: {
        1: 'it could not be written; with --wait, it failed',
        3: 'you left, by q or Ctrl-C or after skipping: something still waits',
        4: 'the queue has errors',
        5: 'with --wait, no daemon runs',
      },
      json: 'value',
      names: {ids: 'approval'},
    },
  );
  about(
    program
      .command('reject <ids...>')
      .summary('say no; the agent is told why')
      .description('Say no, by any unique part of an id; the agent is told why.')
      .option('--reason <text>', 'why; on a terminal you are asked for it')
      .option('--wait', 'until that is recorded')
      .option('--timeout <seconds>', 'with --wait: no longer than that', wholeNumber)
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
        ['agentdir reject 8228 --reason "not on a Friday"', 'the agent reads the reason'],
        ['agentdir reject 8228 77aa --wait', 'both; returns when the daemon has recorded it'],
      ],
      exits: {
        1: 'it could not be written',
        3: 'you left by Ctrl-C when asked why: it still waits',
        4: 'the queue has errors',
        5: 'with --wait, no daemon runs',
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
  edit?: boolean;
  always?: boolean;
  answer?: string;
  sign?: boolean;
  key?: string;
}

function waiting({wait, timeout}: WaitFlags): {wait: boolean; timeoutMs: number | undefined} {
  return {wait: wait === true, timeoutMs: timeout === undefined ? undefined : timeout * 1000};
}
