import type {Names} from '../../../check/names.ts';
import {stemOf} from '../../../formats/common/key.ts';
import {memberOf, parseRun, runPath} from '../../../formats/run.ts';
import {parseSettings} from '../../../formats/settings.ts';
import {parseWorkflow} from '../../../formats/workflow.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {listFolder, readHomeFile} from '../../../home/read.ts';

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
    hasAgent: name => agents.has(name) || isOfInstance(home, name),
    hasMember: name => {
      members ??= new Set(listFolder(nodeDisk(home), 'workflows').flatMap(path => membersOf(home, path)));
      return members.has(name);
    },
    hasPerson: name => settings()?.people?.includes(name) === true,
    hasInstance: name => nodeDisk(home).exists(`.workflow/${name}`),
    reachesHomes: () => settings()?.nats?.server !== undefined,
    agents: () => [...agents].sort(),
  };
}

function isOfInstance(home: string, name: string): boolean {
  const member = memberOf(name);
  const read = member && readHomeFile(nodeDisk(home), runPath(member.instance));
  return (
    member !== undefined &&
    read !== undefined &&
    'text' in read &&
    parseRun(read.text).value?.definitions[member.name] !== undefined
  );
}

function settingsIn(home: string) {
  const read = readHomeFile(nodeDisk(home), 'agentdir.yaml');
  return read && 'text' in read ? parseSettings(read.text).value : undefined;
}

function membersOf(home: string, path: string): string[] {
  const read = readHomeFile(nodeDisk(home), path);
  return read && 'text' in read ? Object.keys(parseWorkflow(read.text).value?.agents ?? {}) : [];
}
