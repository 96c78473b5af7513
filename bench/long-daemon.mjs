// node long-daemon.mjs HOME ROUNDS SIZES: serve the home in this process, add a message to conversations of SIZES (a,b,c) messages
// in turns, and print as JSON the milliseconds and the CPU of each turn: from the save to the answer in the file.
import {appendFileSync, mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {serveHere} from './serve-here.mjs';

const [home, rounds, sizes] = [process.argv[2], Number(process.argv[3]), process.argv[4].split(',').map(Number)];
const time = new Date().toISOString();
const message = (role, content) =>
  `  - timestamp: '${time}'\n    role: ${role}\n${role === 'user' ? '    from: human\n' : '    model: fake\n'}    content: ${content}\n`;
const fileOf = size => join(home, `sessions/bench/long-${size}.session.yaml`);

mkdirSync(join(home, 'sessions/bench'), {recursive: true});
for (const size of sizes) {
  let text = `session_id: long-${size}\nagent_id: bench\nagent_type: bench\nmodel: default\nsystem_prompt: You plan.\ncreated: '${time}'\nupdated: '${time}'\nstatus: sleeping\nmessages:\n`;
  for (let i = 0; i < size; i += 2)
    text += message('user', `Is Redis up, for the ${i}th time?`) + message('assistant', `Yes it was at ${i}`);
  writeFileSync(fileOf(size), text);
}

const {served, momentOf} = serveHere(home);
await momentOf(({event}) => event === 'serving');
await sleep(1_500);

async function turn(size) {
  const done = momentOf(({event, session}) => event === 'answered' && session === `long-${size}`);
  const committed = momentOf(
    ({event, subject}) => event === 'committed' && subject === `session(long-${size}): assistant turn`,
  );
  const before = process.cpuUsage();
  const begun = performance.now();
  appendFileSync(fileOf(size), message('user', 'Is Redis up?'));
  const ms = (await done) - begun;
  await committed;
  await sleep(50);
  const {user, system} = process.cpuUsage(before);
  return {size, ms, cpu: (user + system) / 1000};
}

const all = [];
for (let round = 0; round < rounds + 3; round++)
  for (const size of sizes) {
    const measured = await turn(size);
    if (round >= 3) all.push(measured);
  }
process.kill(process.pid, 'SIGTERM');
await served;
console.log(JSON.stringify(all));
