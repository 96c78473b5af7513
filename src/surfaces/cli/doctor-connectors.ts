import {SLACK_TOKEN} from '../../formats/connector-settings.ts';
import {parseSettings, type Settings} from '../../formats/settings.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {MARKER} from '../../home/locate.ts';
import {readHomeFile} from '../../home/read.ts';
import {type Connector, connectorsOf} from './connector-lines.ts';
import type {DoctorFinding} from './doctor-finding.ts';

/** Missing variables of connectors in this shell, and running connectors. */
export function checkConnectors(home: string): DoctorFinding[] {
  const read = readHomeFile(nodeDisk(home), MARKER);
  const settings = (read && 'text' in read && parseSettings(read.text).value) || {};
  const missing = neededBy(settings)
    .filter(({variable}) => !process.env[variable]?.trim())
    .map(({what, variable}) => ({
      name: 'connectors',
      state: 'note' as const,
      message: `${what}: ${variable} is not set here`,
      hint: 'set it where the daemon, agentdir webhook and agentdir mail are started (docs/connectors.md)',
    }));
  return [...connectorsOf(home, settings).map(runs), ...missing];
}

function runs(connector: Connector): DoctorFinding {
  const {name} = connector;
  if (!connector.running)
    return {name, state: 'note', message: 'not running: it receives nothing', hint: `agentdir ${name}`};
  const {pid, at, trouble} = connector;
  if (trouble !== undefined) return {name, state: 'bad', message: `process ${pid} is blocked`, hint: trouble};
  return {name, state: 'ok', message: at === undefined ? `process ${pid}` : `process ${pid}, ${at}`};
}

function neededBy({webhooks, slack, mail}: Settings): {what: string; variable: string}[] {
  const passwords = {'mail.imap': mail?.imap?.password_env, 'mail.smtp': mail?.smtp?.password_env};
  return [
    ...(webhooks ?? []).flatMap(({path, secret_env}) =>
      [secret_env].flat().map(variable => ({what: `webhook ${path}`, variable})),
    ),
    ...(slack ? [{what: 'slack', variable: slack.token_env ?? SLACK_TOKEN}] : []),
    ...Object.entries(passwords).flatMap(([what, variable]) => (variable === undefined ? [] : [{what, variable}])),
  ];
}
