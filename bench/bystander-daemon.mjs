// node bystander-daemon.mjs HOME AGENTS: serve the home in this process, give every agent a message at once, and meanwhile edit another
// session again and again, as a person would; prints as JSON how long each edit took to be answered.
import {appendFileSync, mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {serveHere} from './serve-here.mjs';

const [home, agents] = [process.argv[2], Number(process.argv[3])];
const {served, momentOf} = serveHere(home);
const fileOf = id => join(home, `sessions/bench/${id}.session.yaml`);
const now = () => new Date().toISOString();
const head = id =>
  `session_id: ${id}\nagent_id: bench\nagent_type: bench\nmodel: default\nsystem_prompt: You plan.\ncreated: '${now()}'\nupdated: '${now()}'\nstatus: active\nmessages:\n`;
const message = () => `  - timestamp: '${now()}'\n    role: user\n    from: human\n    content: Is Redis up?\n`;
const answered = id => momentOf(({event, session, calls}) => event === 'answered' && session === id && calls === 0);

async function edit(id) {
  const done = answered(id);
  const begun = performance.now();
  appendFileSync(fileOf(id), message());
  return (await done) - begun;
}

await momentOf(({event}) => event === 'serving');
mkdirSync(join(home, 'sessions/bench'), {recursive: true});
await sleep(500);
const people = ['ada', 'bob', 'cy'];
for (const id of people) writeFileSync(fileOf(id), head(id) + message());
await Promise.all(people.map(answered));
for (let i = 0; i < 5; i++) await edit('ada');
const quiet = [];
for (let i = 0; i < 12; i++) {
  quiet.push(await edit(people[i % 3]));
  await sleep(50);
}

const begun = performance.now();
let isOver = false;
const all = Array.from({length: agents}, (_, i) => `agent-${i}`);
const burst = Promise.all(all.map(answered)).then(() => {
  isOver = true;
  return performance.now() - begun;
});
for (const id of all) writeFileSync(fileOf(id), head(id) + message());
await sleep(20);
const busy = [];
for (let i = 0; !isOver && i < 200; i++) {
  const took = await edit(people[i % 3]);
  if (!isOver || busy.length === 0) busy.push(took);
  await sleep(50);
}
const result = {quiet, busy, burst: await burst};
process.kill(process.pid, 'SIGTERM');
await served;
console.log(JSON.stringify(result));
