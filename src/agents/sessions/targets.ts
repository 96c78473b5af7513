import {join} from 'node:path';
import {askedPart, type CallRequest} from '../../decide/call-request.ts';
import {statSignature} from '../../loop/file-state.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {lookAgain} from '../../loop/look-again.ts';
import type {With} from '../state/parts.ts';

/** The signature of the file that a request would write. Undefined: the request writes no file. */
export function targetSignature({disk}: Pick<HomeFiles, 'disk'>, {agent, ask}: CallRequest): string | undefined {
  const path = ask.basis.file === undefined ? undefined : askedPart(ask, 'Path');
  if (path === undefined) return undefined;
  try {
    const stat = disk.lstat(join('workspaces', agent, path));
    return stat ? statSignature(stat) : 'none';
  } catch {
    return 'none';
  }
}

/** Refresh waiting diffs whose target file has changed. Needed because workspaces are not watched. */
export function checkTargets({files, approvals}: With<'files' | 'approvals'>): void {
  const {waits} = approvals;
  for (const [id, request] of approvals.asked) {
    const before = approvals.targets.get(id);
    if (before === undefined || waits.for(id).size === 0) continue;
    const now = targetSignature(files, request);
    if (now === undefined || now === before) continue;
    approvals.targets.set(id, now);
    approvals.staleSessions.add(request.path);
    lookAgain(files, request.path);
  }
}
