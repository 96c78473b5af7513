import {instanceOf, type Names} from '../../../check/names.ts';
import {stemOf} from '../../../formats/common/key.ts';
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
