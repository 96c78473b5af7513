import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {loadSwap, swapFiles} from '../../home/disk/swap.ts';
import type {DoctorFinding} from './doctor-finding.ts';

/** Whether saves can swap files atomically. */
export async function checkSaves(home: string): Promise<DoctorFinding> {
  const installed = await loadSwap();
  if (installed && canSwapIn(join(home, '.agentdir')))
    return {name: 'saves', state: 'ok', message: 'your edits are safe while the daemon writes'};
  return {
    name: 'saves',
    state: 'note',
    message: 'an edit saved within microseconds of a write by the daemon may be lost',
    hint: installed
      ? 'this file system cannot swap files (renameat2, renamex_np); use another one'
      : 'npm install fs-native-extensions',
  };
}

function canSwapIn(folder: string): boolean {
  let own: string | undefined;
  try {
    own = mkdtempSync(join(folder, 'swap-'));
    const names = ['a', 'b'].map(name => join(own ?? '', name));
    for (const name of names) writeFileSync(name, '');
    return swapFiles(names[0] ?? '', names[1] ?? '');
  } catch {
    // Cannot be tested here; other checks report why.
    return true;
  } finally {
    if (own !== undefined) rmSync(own, {recursive: true, force: true});
  }
}
