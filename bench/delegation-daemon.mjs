// node delegation-daemon.mjs HOME BLOCKS: serve the home in this process, and in turns let an agent make a trivial call, or give a
// task to another one; prints as JSON the CPU and the time of a turn, by block.
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {serveHere} from './serve-here.mjs';

const [home, blocks] = [process.argv[2], Number(process.argv[3])];
const TURNS = 12;
const {served, momentOf} = serveHere(home);
const now = () => new Date().toISOString();
const textOf = (id, words) =>
  `session_id: ${id}\nagent_id: bench\nagent_type: bench\nmodel: default\nsystem_prompt: You plan.\ncreated: '${now()}'\nupdated: '${now()}'\nstatus: active\nmessages:\n  - timestamp: '${now()}'\n    role: user\n    from: human\n    content: ${words}\n`;

async function block(name, words) {
  const before = process.cpuUsage();
  let took = 0;
  for (let i = 0; i < TURNS; i++) {
    const id = `${name}-${i}`;
    const done = momentOf(({event, session, calls}) => event === 'answered' && session === id && calls === 0);
    const begun = performance.now();
    writeFileSync(join(home, `sessions/bench/${id}.session.yaml`), textOf(id, words));
    took += (await done) - begun;
  }
  // All of it is in git.
  await sleep(1_000);
  const {user, system} = process.cpuUsage(before);
  return {cpu: (user + system) / 1000 / TURNS, took: took / TURNS};
}

await momentOf(({event}) => event === 'serving');
mkdirSync(join(home, 'sessions/bench'), {recursive: true});
await sleep(500);
await block('warm', 'Is Redis up?');
await block('warm-task', 'Give it away.');
const found = {plain: {cpu: [], took: []}, delegating: {cpu: [], took: []}};
for (let i = 0; i < blocks; i++)
  for (const [kind, words] of [
    ['plain', 'Is Redis up?'],
    ['delegating', 'Give it away.'],
  ]) {
    const {cpu, took} = await block(`${kind}-${i}`, words);
    found[kind].cpu.push(cpu);
    found[kind].took.push(took);
  }
process.kill(process.pid, 'SIGTERM');
await served;
console.log(JSON.stringify(found));
