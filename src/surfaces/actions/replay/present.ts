import {nodeDisk} from '../../../home/disk/disk.ts';
import {listFolder, readHomeFile} from '../../../home/read.ts';
import {applyFile, emptyState, type HomeState} from '../verify/home-state.ts';

/** The policy, settings and templates as they are on disk. */
export function presentHome(home: string): HomeState {
  const state = emptyState();
  for (const path of ['agentdir.yaml', 'allowlist.yaml', ...listFolder(nodeDisk(home), 'templates')]) {
    const read = readHomeFile(nodeDisk(home), path);
    if (read && 'text' in read) applyFile(state, path, read.text);
  }
  return state;
}
