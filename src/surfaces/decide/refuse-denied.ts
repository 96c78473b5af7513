import {exit, UserError} from '../../errors.ts';
import {parseAllowlist} from '../../files/allowlist.ts';
import {hasErrors} from '../../files/diagnostic.ts';
import {judge} from '../../policy/judge.ts';
import {nodeDisk} from '../../store/disk.ts';
import {readHomeFile} from '../../store/read.ts';
import type {Request} from './queue.ts';

/** A command that the policy denies does not run, whoever wrote it: better told now than by an agent that failed. */
export function refuseDenied(home: string, {id, agent}: Request, command: string): void {
  const read = readHomeFile(nodeDisk(home), 'allowlist.yaml');
  const file = read && 'text' in read ? parseAllowlist(read.text) : undefined;
  // Then everything asks.
  if (!file || hasErrors(file.problems)) return;
  const {verdict, segments, reasons} = judge(command, file.policy, agent === undefined ? {} : {agent});
  if (verdict !== 'deny') return;
  const denied = segments.find(segment => segment.verdict === 'deny');
  throw new UserError(
    `the policy denies what you made of ${id}: ${denied ? `\`${denied.source}\`: ${denied.reason}` : reasons[0]}; nothing was written`,
    exit.failed,
    'what the rules say: agentdir policy explain',
  );
}
