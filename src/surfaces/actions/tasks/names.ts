import {agentHint, isKnownName, type Names} from '../../../check/names.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {stemOf} from '../../../formats/common/key.ts';
import {parseWorkflow} from '../../../formats/workflow.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {listFolder, readHomeFile} from '../../../home/read.ts';
import {oneOf} from '../talk/one-of.ts';

/** Names of this home. Reads workflows only when needed, and no templates. */
export function addressableNames(home: string): Names {
  const agents = new Set(listFolder(nodeDisk(home), 'templates').map(stemOf));
  let members: ReadonlySet<string> | undefined;
  return {
    hasAgent: name => agents.has(name),
    hasMember: name => {
      members ??= new Set(listFolder(nodeDisk(home), 'workflows').flatMap(path => membersOf(home, path)));
      return members.has(name);
    },
    agents: () => [...agents].sort(),
  };
}

function membersOf(home: string, path: string): string[] {
  const read = readHomeFile(nodeDisk(home), path);
  return read && 'text' in read ? Object.keys(parseWorkflow(read.text).value?.agents ?? {}) : [];
}

/** Resolves a full name, or a unique part of an agent's name. */
export function assigneeNamed(wanted: string, names: Names): string {
  const name = wanted.replace(/^@/, '');
  return isKnownName(name, names) ? name : oneOf('agent', name, [...names.agents(), 'human'], agentHint(name, names));
}

/** Resolves `new:TEMPLATE` or `new:provider/model`. */
export function newAgentNamed(wanted: string, names: Names): string {
  const [, what = ''] = /^new:(\S+)$/.exec(wanted) ?? [];
  if (/^[^/]+\/.+$/.test(what)) return wanted;
  if (what === '' || what.includes('/'))
    throw new UserError(`expected new:TEMPLATE or new:provider/model, got "${wanted}"`, exit.usage);
  return `new:${oneOf('template', what, names.agents(), agentHint(what, names))}`;
}
