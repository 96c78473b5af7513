import type {Command} from 'commander';
import {about} from './about.ts';
import type {CommandContext} from './command-context.ts';
import {wholeNumber} from './option-values.ts';

interface WebhookFlags {
  host: string;
  port: number;
  bodyTimeout: number;
}

/** webhook, mail. */
export function addConnectorCommands(program: Command, {home, json, finish}: CommandContext): void {
  about(
    program
      .command('webhook')
      .summary('receive signed webhooks into inbox/')
      .description('Receive signed webhooks (Slack, GitHub, Standard Webhooks) into inbox/, until stopped.')
      .option('--port <number>', 'port to listen on; 0 picks a free one', port, 8788)
      .option('--host <address>', 'address to listen on; put a TLS proxy in front of it', '127.0.0.1')
      .option('--body-timeout <seconds>', 'time limit for headers and body, each', wholeNumber, 10)
      .action(async (flags: WebhookFlags) =>
        finish(
          await (await import('./webhook.ts')).webhookCommand({
            home: home(),
            host: flags.host,
            port: flags.port,
            bodySeconds: flags.bodyTimeout,
            json: json(),
          }),
        ),
      ),
    {
      examples: [
        ['agentdir webhook', 'all webhooks of agentdir.yaml, on port 8788 of this machine'],
        ['agentdir webhook --port 9000 --json >> webhook.log', 'another port; log one event per line'],
      ],
      exits: {1: 'the port is not available', 4: 'agentdir.yaml has errors', 5: 'it is already running'},
      json: 'lines',
    },
  );
  about(
    program
      .command('mail')
      .summary('fetch new mail into inbox/')
      .description('Fetch new mail (IMAP) into inbox/ until stopped. Never changes the mailbox.')
      .option('--once', 'fetch the mail that is there now, then exit')
      .action(async (flags: {once?: boolean}) =>
        finish(await (await import('./mail.ts')).mailCommand({home: home(), once: flags.once === true, json: json()})),
      ),
    {
      examples: [
        ['agentdir mail', 'fetch mail as it arrives'],
        ['agentdir mail --once', 'for cron'],
      ],
      exits: {1: 'the mailbox could not be read', 4: 'agentdir.yaml has errors', 5: 'it is already running'},
      json: 'lines',
    },
  );
}

function port(text: string): number {
  return text === '0' ? 0 : wholeNumber(text);
}
