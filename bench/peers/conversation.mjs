// What every peer does: the same conversation, so many times, each driven by its own process and timed from within.
import {readFileSync} from 'node:fs';

export const INSTRUCTIONS = 'You plan.';
export const QUESTION = 'Is Redis up?';
export const TOOL = {name: 'list_sessions', description: 'List the sessions of an agent.'};
/** What the tool answers: it does nothing. */
export const RESULT = JSON.stringify({success: true, sessions: []});

/**
 * `open(id)` gives a new conversation: a function that takes the question, and resolves with the answer once that is kept as this peer
 * keeps it. Conversation 0 warms up and is not counted. Gives the milliseconds of all turns, the
 * process's CPU for a turn, and its memory at its most.
 */
export async function converse(conversations, turns, open) {
  const times = [];
  let before = process.cpuUsage();
  for (let n = 0; n <= conversations; n++) {
    if (n === 1) before = process.cpuUsage();
    const ask = await open(`conversation-${n}`);
    for (let i = 1; i <= turns; i++) {
      const start = performance.now();
      const {answer: given, later} = await ask(QUESTION);
      const ms = performance.now() - start;
      const answer = typeof given === 'function' ? given() : given;
      if (answer !== `done ${i}`)
        throw new Error(`turn ${i} of ${n}: expected "done ${i}", got ${JSON.stringify(answer)}`);
      if (n > 0) times.push({turn: i, ms, ...(later && {later: await later.then(at => at - start)})});
    }
  }
  const {user, system} = process.cpuUsage(before);
  const most = Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;
  return {times, most, cpu: (user + system) / 1000 / times.length};
}
