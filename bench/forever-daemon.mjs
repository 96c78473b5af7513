// node forever-daemon.mjs HOME TURNS: serve the home in this process, hold one conversation of so many turns with a small window, and print
// as JSON the milliseconds and the CPU of each turn, compactions included.
import {appendFileSync, mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {serveHere} from './serve-here.mjs';

const [home, turns] = [process.argv[2], Number(process.argv[3])];
const file = join(home, 'sessions/bench/forever.session.yaml');
mkdirSync(join(home, 'sessions/bench'), {recursive: true});
const {served, momentOf} = serveHere(home);
await momentOf(({event}) => event === 'serving');
await sleep(1_500);

const message = n =>
  `  - role: user\n    content: Is Redis up, for the ${n}th time? ${'Please look closely and tell me all. '.repeat(5)}\n`;
const all = [];
let compactions = 0;
const countCompactions = async () => {
  for (;;) {
    await momentOf(({event}) => event === 'compacted');
    compactions++;
  }
};
void countCompactions();
for (let n = 1; n <= turns; n++) {
  const done = momentOf(({event, session}) => event === 'answered' && session === 'forever');
  const committed = momentOf(
    ({event, subject}) => event === 'committed' && subject === 'session(forever): assistant turn',
  );
  const before = process.cpuUsage();
  const begun = performance.now();
  if (n === 1) writeFileSync(file, `agent_id: bench\nmessages:\n${message(n)}`);
  else appendFileSync(file, message(n));
  const ms = (await done) - begun;
  await committed;
  const {user, system} = process.cpuUsage(before);
  all.push({n, ms, cpu: (user + system) / 1000});
}
process.kill(process.pid, 'SIGTERM');
await served;
console.log(JSON.stringify({all, compactions}));
