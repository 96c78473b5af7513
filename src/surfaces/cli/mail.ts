import {exit, UserError} from '../../formats/common/errors.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import {MAIL_FILE, readMailbox} from '../../formats/connector-settings.ts';
import {noteConnector} from '../../home/connector-state.ts';
import {openReceivedIds} from '../../home/received-ids.ts';
import {
  claimConnector,
  connectorRedactor,
  connectorSettings,
  outlastLog,
  secretFrom,
  untilStopped,
} from '../connector.ts';
import {watchMail} from '../mail/watch.ts';
import {colors, print, printJson} from '../terminal/output.ts';

interface Told {
  event: string;
  [key: string]: unknown;
}

export async function mailCommand({home, once, json}: {home: string; once: boolean; json: boolean}): Promise<number> {
  const {mail: settings} = connectorSettings(home);
  const imap = settings?.imap;
  if (!imap)
    throw new UserError(
      'agentdir.yaml has no mailbox to read',
      exit.usage,
      'add for example: mail: {imap: {host: imap.example.org, user: agents, password_env: MAIL_PASSWORD}}',
    );
  const password = secretFrom(imap.password_env, 'mail.imap');
  const file = settings.file ?? MAIL_FILE;
  const path = imap.mailbox ?? 'INBOX';
  const release = claimConnector(home, 'mail');
  outlastLog();
  const redact = connectorRedactor(home);
  const tell = (told: Told) => {
    const safe = redact.value(told);
    if (json) printJson({time: new Date().toISOString(), ...safe});
    else print(`${colors.dim(new Date().toTimeString().slice(0, 8))} ${describe(safe, file)}`);
  };
  const stop = new AbortController();
  void untilStopped().then(() => stop.abort());
  const name = `${imap.user}@${imap.host}/${path}`;
  const first = imap.first ?? 'new';
  const own = readMailbox(settings.smtp?.from ?? '')?.address;
  const since = new Date().toISOString();
  const note = (trouble?: string) =>
    noteConnector(home, 'mail', {since, at: name, trouble: trouble && redact.text(trouble)});
  note();
  try {
    await watchMail({
      imap,
      password,
      once,
      mailbox: {
        home,
        name,
        path,
        first,
        stopping: stop.signal,
        received: openReceivedIds(home, file),
        own,
        redact,
        tell,
      },
      stopping: stop.signal,
      trouble(why, seconds) {
        note(why);
        tell({event: 'trouble', why, seconds});
      },
      ready() {
        note();
        tell({event: 'watching', mailbox: name});
      },
    });
    tell({event: 'stopped'});
    return exit.done;
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(redact.text((error as Error).message), exit.failed, 'see mail.imap in agentdir.yaml');
  } finally {
    release();
  }
}

function describe({event, id, from, why, seconds, mailbox}: Told, file: string): string {
  switch (event) {
    case 'received':
      return `${colors.green('received')} ${visibleLine(String(from ?? 'a mail'))} → inbox/${file} ${colors.dim(String(id))}`;
    case 'trouble':
      return `${colors.yellow('waiting')} ${visibleLine(String(why))}; next try in ${seconds} s`;
    case 'watching':
      return `watching ${colors.bold(visibleLine(String(mailbox)))}. Ctrl-C stops.`;
    default:
      return `${event} ${colors.dim(String(id ?? ''))}`.trimEnd();
  }
}
