import type {Command} from 'commander';
import {whole} from './number-argument.ts';
import {examples, type Surroundings} from './talk-commands.ts';

interface WebhookFlags {
  host: string;
  port: number;
  bodyTimeout: number;
}

/** webhook, mail: what brings events from outside into the inbox. */
export function addConnectors(program: Command, {home, json, finish}: Surroundings): void {
  program
    .command('webhook')
    .description('receive signed webhooks (Slack, GitHub, Standard Webhooks) into inbox/, until stopped')
    .option('--port <number>', 'where to listen; 0 takes any', port, 8788)
    .option('--host <address>', 'on which address; put a proxy with TLS in front of it', '127.0.0.1')
    .option('--body-timeout <seconds>', 'how long headers and body may take to come, each', whole, 10)
    .addHelpText('after', examples('agentdir webhook', 'agentdir webhook --port 9000 --json >> webhook.log'))
    .action(async (flags: WebhookFlags) =>
      finish(
        await (await import('./webhook.ts')).webhook({
          home: home(),
          host: flags.host,
          port: flags.port,
          bodySeconds: flags.bodyTimeout,
          json: json(),
        }),
      ),
    );
  program
    .command('mail')
    .description('take new mail (IMAP) into inbox/, until stopped; changes nothing in the mailbox')
    .option('--once', 'take what is there now, then exit')
    .addHelpText('after', examples('agentdir mail', 'agentdir mail --once'))
    .action(async (flags: {once?: boolean}) =>
      finish(await (await import('./mail.ts')).mail({home: home(), once: flags.once === true, json: json()})),
    );
}

function port(text: string): number {
  return text === '0' ? 0 : whole(text);
}
