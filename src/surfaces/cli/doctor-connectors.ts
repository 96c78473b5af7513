import {SLACK_TOKEN} from '../../files/connector-settings.ts';
import {parseSettings, type Settings} from '../../files/settings.ts';
import {MARKER} from '../../store/locate.ts';
import {readHomeFile} from '../../store/read.ts';

/** What connectors need and this shell lacks, which most often is the one that they are started from. */
export function connectors(home: string): {name: string; state: 'note'; message: string; hint: string}[] {
  const read = readHomeFile(home, MARKER);
  const settings = read && 'text' in read ? parseSettings(read.text).value : undefined;
  return neededBy(settings ?? {})
    .filter(({variable}) => !process.env[variable]?.trim())
    .map(({what, variable}) => ({
      name: 'connectors',
      state: 'note',
      message: `${what}: ${variable} is not set here`,
      hint: 'set it where the daemon, agentdir webhook and agentdir mail are started (docs/connectors.md)',
    }));
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
