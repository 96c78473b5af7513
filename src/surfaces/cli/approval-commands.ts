import type {Command} from 'commander';
import {whole} from './number-argument.ts';
import {examples, type Surroundings} from './talk-commands.ts';

/** approvals, approve, reject. */
export function addApprovals(program: Command, {home, json, finish}: Surroundings): void {
  program
    .command('approvals [id]')
    .description('what waits for your decision, oldest first, or all about one request; exit 3 if anything does')
    .option('--all', 'decided ones too, with what became of them')
    .addHelpText(
      'after',
      examples('agentdir approvals', 'agentdir approvals 8228 | less -R', "agentdir approvals --json | jq -r '.[].id'"),
    )
    .action(async (id: string | undefined, options: {all?: boolean}) =>
      finish((await import('./approvals.ts')).approvals({home: home(), id, all: options.all === true, json: json()})),
    );
  program
    .command('approve [ids...]')
    .description('say yes, by any unique part of an id; without one, shows one request after the other and asks')
    .option('--edit', 'change the command or text in your editor first; what you leave there is what runs')
    .option('--always', 'also add the narrowest rule that would have allowed it')
    .option('--answer <text>', 'to a question')
    .option('--sign', 'prove that it was you, with ssh-keygen')
    .option('--key <file>', 'with --sign: this key (default: the one git signs with, else the only one in ~/.ssh)')
    .option('--wait', 'until it has run: exit 1 if it failed, 5 without a daemon')
    .option('--timeout <seconds>', 'with --wait: no longer than that', whole)
    .addHelpText(
      'after',
      examples(
        'agentdir approve                    one after the other',
        'agentdir approve 8228 77aa --wait   both, or none if one is unknown',
        'agentdir approve 8228 --edit        run something else instead',
        'agentdir approve 5f01 --answer "the blue one"',
      ),
    )
    .action(async (ids: string[], options: ApproveFlags) =>
      finish(
        await (await import('./approve.ts')).approve({
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
    );
  program
    .command('reject <ids...>')
    .description('say no, by any unique part of an id; the agent is told why')
    .option('--reason <text>', 'why; on a terminal you are asked for it')
    .option('--wait', 'until that is recorded; exit 5 without a daemon')
    .option('--timeout <seconds>', 'with --wait: no longer than that', whole)
    .addHelpText('after', examples('agentdir reject 8228 --reason "not on a Friday"'))
    .action(async (ids: string[], options: WaitFlags & {reason?: string}) =>
      finish(
        await (await import('./reject.ts')).reject({
          home: home(),
          ids,
          reason: options.reason,
          json: json(),
          ...waiting(options),
        }),
      ),
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
