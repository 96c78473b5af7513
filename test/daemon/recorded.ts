import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {nodeDisk} from '../../src/home/disk/disk.ts';
import {thisProcess} from '../../src/home/disk/holder.ts';
import {logFolder} from '../../src/home/versions/log-folder.ts';
import {decodeRecord, encodeRecord} from '../../src/home/versions/record.ts';
import {VersionLog} from '../../src/home/versions/version-log.ts';

/** As if a daemon had written this version of a file and been killed before git had it: the version log has it. */
export async function recordedAndKilled(home: string, path: string, text: string): Promise<void> {
  const log = VersionLog.open(logFolder(nodeDisk(home)), {now: Date.now, boot: thisProcess().boot, checkpoint: 0});
  const author = {name: 'planner-001', email: 'planner-001@home'};
  const words = {subject: 'session(s): answered', trailers: [['Cause', 'recovered']] as const};
  log.placed([log.append({path, mode: '100644', author, ...words, bytes: Buffer.from(text)})]);
  await log.close();
}

/** As if the machine had been started again since: files may lack what was not synced. */
export function rebooted(home: string): void {
  const folder = join(home, '.agentdir/versions');
  for (const name of readdirSync(folder)) {
    const bytes = readFileSync(join(folder, name));
    const head = decodeRecord(bytes, 0);
    if (!head || !('segment' in head.record)) throw new Error(`${name} has no head`);
    const {segment} = head.record;
    const before = encodeRecord({segment: {...segment, boot: 'an earlier one'}});
    writeFileSync(join(folder, name), Buffer.concat([before, bytes.subarray(head.end)]));
  }
}
