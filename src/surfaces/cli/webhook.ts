import {exit, UserError} from '../../formats/common/errors.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import {isLocal, type Webhook} from '../../formats/connector-settings.ts';
import {noteConnector} from '../../home/connector-state.ts';
import {
  claimConnector,
  connectorRedactor,
  connectorSettings,
  outlastLog,
  secretFrom,
  untilStopped,
} from '../connector.ts';
import {colors, note, plural, print, printJson} from '../terminal/output.ts';
import {listen} from '../webhook/listen.ts';
import type {RequestReport, Route} from '../webhook/receiver.ts';
import {keysOf} from '../webhook/signature.ts';

export interface WebhookOptions {
  home: string;
  host: string;
  port: number;
  bodySeconds: number;
  json: boolean;
}

/** Shorter secrets are easy to guess. */
const SHORTEST = 8;

/** Receive signed webhooks until stopped. */
export async function webhookCommand({home, host, port, bodySeconds, json}: WebhookOptions): Promise<number> {
  const routes = (connectorSettings(home).webhooks ?? []).map(withSecrets);
  if (routes.length === 0)
    throw new UserError(
      'agentdir.yaml has no webhooks',
      exit.usage,
      'add for example: webhooks: [{path: /slack, kind: slack, secret_env: SLACK_SIGNING_SECRET, file: slack-messages.jsonl}]',
    );
  const release = claimConnector(home, 'webhook');
  outlastLog();
  const redact = connectorRedactor(home);
  const tell = (told: RequestReport | {event: string}) => {
    const safe = redact.value(told);
    if (json) printJson({time: new Date().toISOString(), ...safe});
    else if ('path' in safe) print(`${colors.dim(new Date().toTimeString().slice(0, 8))} ${describe(safe)}`);
  };
  const stopped = untilStopped();
  try {
    const listening = await listen({home, routes, bodyMs: bodySeconds * 1000, redact, tell}, host, port);
    const address = `http://${host.includes(':') ? `[${host}]` : host}:${listening.port}`;
    noteConnector(home, 'webhook', {since: new Date().toISOString(), at: address});
    if (!isLocal(host))
      note(
        `${host} is reachable from other machines: without a TLS proxy, requests and signatures can be read in transit`,
      );
    if (json) printJson({event: 'listening', address, paths: routes.map(({path}) => path)});
    else {
      print(`listening on ${colors.bold(address)} for ${plural(routes.length, 'webhook')}. Ctrl-C stops.`);
      for (const {path, kind, file} of routes) print(`  ${path} ${colors.dim(`(${kind})`)} → inbox/${file}`);
    }
    await stopped;
    await listening.stop();
    tell({event: 'stopped'});
    return exit.done;
  } finally {
    release();
  }
}

function withSecrets(route: Webhook): Route {
  const names = [route.secret_env].flat();
  const secrets = names.map(name => secretFrom(name, `webhook ${route.path}`));
  const short = names.find((_, i) => bytesOf(secrets[i] ?? '') < SHORTEST);
  if (short !== undefined)
    throw new UserError(
      `webhook ${route.path}: the secret in ${short} is shorter than ${SHORTEST} bytes`,
      exit.failed,
      'it is easy to guess; create a longer one: openssl rand -hex 32',
    );
  return {...route, secrets};
}

function bytesOf(secret: string): number {
  return Math.min(...keysOf(secret).map(key => Buffer.byteLength(key)));
}

function describe({event, path, status, id, file, why, from}: RequestReport): string {
  const place = visibleLine(path.slice(0, 200));
  const mark = event === 'refused' || event === 'failed' ? colors.red(`${event} ${status}`) : colors.green(event);
  const words = [id && visibleLine(id), file && `→ inbox/${file}`, why && visibleLine(why), from && colors.dim(from)];
  return `${mark} ${place} ${words.filter(Boolean).join(' ')}`.trimEnd();
}
