import {exit} from '../../formats/common/errors.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {daemonOf} from '../../home/status.ts';
import {callWords} from '../../policy/call-words.ts';
import {type ForkOptions, fork} from '../actions/fork/fork.ts';
import {colors, plural, print, printJson} from '../terminal/output.ts';

export async function forkCommand({json, ...options}: ForkOptions & {json: boolean}): Promise<number> {
  const {home, paused} = options;
  const {id, path, from, count, awaits, open} = await fork(options);
  if (json) {
    const forked_from = {session: from.id, commit: from.commit ?? null, message: count};
    const calls = open.map(call => call.id);
    printJson({
      session: id,
      path,
      agent: from.header.agent_id,
      forked_from,
      not_run: calls,
      answers: awaits && !paused,
    });
    return exit.done;
  }
  const when = from.commit === undefined ? '' : ` as of ${from.commit.slice(0, 7)}`;
  print(
    `${colors.green('forked')} ${visibleLine(from.id)}${when}, ${plural(count, 'message')} of ${from.messages.length}`,
  );
  print(`  ${path}`);
  for (const call of open) print(`  not run in it: ${visibleLine(callWords(call.function))} (${visibleLine(call.id)})`);
  const who = `@${visibleLine(from.header.agent_id)}`;
  if (paused) print(`  it is paused: edit it, then set "status: active"`);
  else if (awaits)
    print(
      `  ${who} answers it ${daemonOf(nodeDisk(home)) ? 'now' : 'when a daemon runs'}; to edit it first: fork --paused`,
    );
  print(`  continue: agentdir send TEXT --session ${id} --wait; read it: agentdir show ${id}`);
  return exit.done;
}
