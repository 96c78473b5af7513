import {hasErrors} from '../formats/common/diagnostic.ts';
import {exit, UserError} from '../formats/common/errors.ts';
import {parseSettings, type Settings} from '../formats/settings.ts';
import {type ConnectorName, connectorLock} from '../home/connector-state.ts';
import {nodeDisk} from '../home/disk/disk.ts';
import {tryLock} from '../home/disk/lock.ts';
import {readHomeFile} from '../home/read.ts';
import {makeRedactor, type Redactor} from '../policy/redact/redact.ts';
import {secretsOf} from '../policy/redact/secret-names.ts';
import {keyVariables} from './actions/talk/redact-message.ts';

/** The settings; throws if they have errors. */
export function connectorSettings(home: string): Settings {
  const read = readHomeFile(nodeDisk(home), 'agentdir.yaml');
  const file = read && 'text' in read ? parseSettings(read.text) : undefined;
  if (!file?.value || hasErrors(file.problems))
    throw new UserError('agentdir.yaml has errors', exit.badFile, 'see agentdir check agentdir.yaml');
  return file.value;
}

export function connectorRedactor(home: string): Redactor {
  return makeRedactor(secretsOf(keyVariables(home), process.env));
}

/** The value of a variable; throws if it is not set. */
export function secretFrom(name: string, what: string): string {
  const value = process.env[name]?.trim();
  if (value) return value;
  throw new UserError(
    `${what}: the environment variable ${name} is not set`,
    exit.failed,
    `set ${name} and start again`,
  );
}

/** Allows one process per connector and home. */
export function claimConnector(home: string, name: ConnectorName): () => void {
  const lock = tryLock(nodeDisk(home), connectorLock(name), 'life');
  if ('heldBy' in lock)
    throw new UserError(
      `agentdir ${name} already runs for this home: process ${lock.heldBy.pid}`,
      exit.daemon,
      `stop it first: kill ${lock.heldBy.pid}`,
    );
  return lock.release;
}

/** Ignore a broken log (closed pipe, full disk): receiving is more important. */
export function outlastLog(): void {
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error').on('error', () => {});
}

/** Resolves with the first signal that asks to stop; a second one ends the process at once. */
export function untilStopped(): Promise<string> {
  return new Promise(resolve => {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => resolve(name));
  });
}
