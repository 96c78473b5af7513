import {agentHint, assigneeFault, instanceOf, type Names} from '../../../check/names.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {stemOf} from '../../../formats/common/key.ts';
import {parseSettings} from '../../../formats/settings.ts';
import {parseWorkflow} from '../../../formats/workflow.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {listFolder, readHomeFile} from '../../../home/read.ts';
import {oneOf} from '../talk/one-of.ts';

/** Names of this home. Reads workflows and settings only when needed, and no templates. */
export function addressableNames(home: string): Names {
  const agents = new Set(listFolder(nodeDisk(home), 'templates').map(stemOf));
  let members: ReadonlySet<string> | undefined;
  let read: ReturnType<typeof settingsIn> | undefined;
  const settings = () => {
    read ??= settingsIn(home);
    return read;
  };
  return {
    hasAgent: name => agents.has(name),
    hasMember: name => {
      members ??= new Set(listFolder(nodeDisk(home), 'workflows').flatMap(path => membersOf(home, path)));
      return members.has(name);
    },
    hasPerson: name => settings()?.people?.includes(name) === true,
    hasInstance: name => listFolder(nodeDisk(home), '.workflow').some(path => instanceOf(path) === name),
    reachesHomes: () => settings()?.nats?.server !== undefined,
    agents: () => [...agents].sort(),
  };
}

function settingsIn(home: string) {
  const read = readHomeFile(nodeDisk(home), 'agentdir.yaml');
  return read && 'text' in read ? parseSettings(read.text).value : undefined;
}

function membersOf(home: string, path: string): string[] {
  const read = readHomeFile(nodeDisk(home), path);
  return read && 'text' in read ? Object.keys(parseWorkflow(read.text).value?.agents ?? {}) : [];
}

/** Resolves a full name, or a unique part of an agent's name. Throws if nothing can be delivered there. */
export function assigneeNamed(wanted: string, names: Names): string {
  const name = wanted.replace(/^@/, '');
  const fault = assigneeFault(name, names);
  if (!fault) return name;
  if (/[@/]/.test(name)) throw new UserError(fault.message, exit.usage, fault.hint);
  return oneOf('agent', name, [...names.agents(), 'human'], agentHint(name, names));
}

/** Resolves `new:TEMPLATE` or `new:provider/model`. */
export function newAgentNamed(wanted: string, names: Names): string {
  const [, what = ''] = /^new:(\S+)$/.exec(wanted) ?? [];
  if (/^[^/]+\/.+$/.test(what)) return wanted;
  if (what === '' || what.includes('/'))
    throw new UserError(`expected new:TEMPLATE or new:provider/model, got "${wanted}"`, exit.usage);
  return `new:${oneOf('template', what, names.agents(), agentHint(what, names))}`;
}
