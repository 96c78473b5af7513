import type {Command} from 'commander';
import {about} from './about.ts';
import type {CommandContext} from './command-context.ts';
import {wholeNumber} from './number-argument.ts';

interface WebhookFlags {
  host: string;
  port: number;
  bodyTimeout: number;
}

/** webhook, mail: what brings events from outside into the inbox. */
export function addConnectorCommands(program: Command, {home, json, finish}: CommandContext): void {
  about(
    program
      .command('webhook')
      .summary('receive signed webhooks into inbox/')
      .description('Receive signed webhooks (Slack, GitHub, Standard Webhooks) into inbox/, until stopped.')
      .option('--port <number>', 'where to listen; 0 takes any', port, 8788)
      .option('--host <address>', 'on which address; put a proxy with TLS in front of it', '127.0.0.1')
      .option('--body-timeout <seconds>', 'how long headers and body may take to come, each', wholeNumber, 10)
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
        ['agentdir webhook', 'what agentdir.yaml sets up, on port 8788 of this machine'],
        ['agentdir webhook --port 9000 --json >> webhook.log', 'elsewhere, with an event a line'],
      ],
      exits: {1: 'it could not listen', 4: 'agentdir.yaml has errors', 5: 'one already runs'},
      json: 'lines',
    },
  );
  about(
    program
      .command('mail')
      .summary('take new mail into inbox/')
      .description('Take new mail (IMAP) into inbox/, until stopped. Changes nothing in the mailbox.')
      .option('--once', 'take what is there now, then exit')
      .action(async (flags: {once?: boolean}) =>
        finish(await (await import('./mail.ts')).mailCommand({home: home(), once: flags.once === true, json: json()})),
      ),
    {
      examples: [
        ['agentdir mail', 'as it comes'],
        ['agentdir mail --once', 'for cron: what is there now'],
      ],
      exits: {1: 'the mailbox could not be read', 4: 'agentdir.yaml has errors', 5: 'one already runs'},
      json: 'lines',
    },
  );
}

function port(text: string): number {
  return text === '0' ? 0 : wholeNumber(text);
}
