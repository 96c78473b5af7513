import {agentFault, isPerson} from '../../../check/names.ts';
import {hasErrors} from '../../../formats/common/diagnostic.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {stemOf} from '../../../formats/common/key.ts';
import {parseSettings} from '../../../formats/settings.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {listFolder, readHomeFile} from '../../../home/read.ts';
import {instanceAgentNames} from '../instances/instances.ts';
import {addressableNames} from './addressable-names.ts';
import {fileError} from './file-error.ts';
import {oneOf} from './one-of.ts';

/** Resolves an agent; default: `default_agent`, or the only agent. */
export function agentName(home: string, wanted: string | undefined): string {
  const names = [
    ...new Set(templates(home).map(stemOf)),
    ...(wanted?.includes('@', 1) ? instanceAgentNames(home) : []),
  ];
  if (wanted !== undefined) {
    const name = wanted.replace(/^@/, '');
    const known = addressableNames(home);
    if (isPerson(name, known) && !names.includes(name))
      throw new UserError(
        `@${name} is a person, not an agent`,
        exit.usage,
        'a person gets tasks: agentdir task add … --to NAME',
      );
    const fault = /[@/]/.test(name) ? agentFault(name, known) : undefined;
    if (fault) throw new UserError(fault.message, exit.usage, fault.hint);
    return oneOf('agent', wanted, names, listOf(names));
  }
  const read = readHomeFile(nodeDisk(home), 'agentdir.yaml');
  const settings = read && 'text' in read ? parseSettings(read.text) : undefined;
  if (settings && hasErrors(settings.problems)) throw fileError('agentdir.yaml', settings.problems);
  const name = settings?.value?.default_agent ?? (names.length === 1 ? names[0] : undefined);
  if (name === undefined)
    throw new UserError(
      'no agent given, and agentdir.yaml has no default_agent',
      exit.usage,
      `name one: --to ${names[0] ?? 'AGENT'}`,
    );
  return oneOf('agent', name, names, 'fix default_agent in agentdir.yaml, or name another: --to AGENT');
}

/** How many names a message lists. */
const LISTED = 8;

function listOf(names: readonly string[]): string {
  return names.length > 0 && names.length <= LISTED ? `there are ${names.join(', ')}` : 'see agentdir agent';
}

/** Sorted by path: of two with one name the first counts. */
export function templates(home: string): string[] {
  return listFolder(nodeDisk(home), 'templates').sort();
}
