import {parseAllowlist} from '../../../formats/allowlist.ts';
import {hasErrors} from '../../../formats/common/diagnostic.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {readHomeFile} from '../../../home/read.ts';
import {judge} from '../../../policy/judge.ts';
import type {Request} from './queue.ts';

/** Refuses an edited command that the policy denies. */
export function refuseDenied(home: string, {id, agent}: Request, command: string): void {
  const read = readHomeFile(nodeDisk(home), 'allowlist.yaml');
  const file = read && 'text' in read ? parseAllowlist(read.text) : undefined;
  // Without a valid policy, everything asks.
  if (!file || hasErrors(file.problems)) return;
  const {verdict, segments, reasons} = judge(command, file.policy, agent === undefined ? {} : {agent});
  if (verdict !== 'deny') return;
  const denied = segments.find(segment => segment.verdict === 'deny');
  throw new UserError(
    `the policy denies your edited version of ${id}: ${denied ? `\`${denied.source}\`: ${denied.reason}` : reasons[0]}; nothing was written`,
    exit.failed,
    'see the rules: agentdir policy explain',
  );
}
