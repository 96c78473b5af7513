// node turns-daemon.mjs HOME SESSIONS ROUNDS TURNS: serve the home in this process, save messages, and print as JSON how
// long things took.
import {appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {nodeDisk} from '../dist/home/disk/disk.js';
import {save} from '../dist/home/save.js';
import {serveHere} from './serve-here.mjs';

const [home, sessions, rounds, turns] = [process.argv[2], ...process.argv.slice(3).map(Number)];
const {served, momentOf} = serveHere(home);

const asking = id => momentOf(({event, session}) => event === 'asking' && session === id);
/** The answer, not the calls before it, is in the file. */
const answered = id => momentOf(({event, session, calls}) => event === 'answered' && session === id && calls === 0);
const committed = id =>
  momentOf(({event, subject}) => event === 'committed' && subject === `session(${id}): assistant turn`);

const pathOf = id => `sessions/bench/${id}.session.yaml`;
const fileOf = id => join(home, pathOf(id));
const now = () => new Date().toISOString();
const head = id =>
  `session_id: ${id}\nagent_id: bench\nagent_type: bench\nmodel: default\nsystem_prompt: You plan.\ncreated: '${now()}'\nupdated: '${now()}'\nstatus: active\nmessages:\n`;
const message = () => `  - timestamp: '${now()}'\n    role: user\n    from: human\n    content: Is Redis up?\n`;

/** Save a first message in a file of its own, or one more. */
function say(id, first) {
  if (first) writeFileSync(fileOf(id), head(id) + message());
  else appendFileSync(fileOf(id), message());
}

/** One turn: from the save, and from the question, to the answer; and to its commit. */
async function turn(id, first) {
  const [asked, done, kept] = [asking(id), answered(id), committed(id)];
  const begun = performance.now();
  say(id, first);
  const end = await done;
  return {turned: end - begun, worked: end - (await asked), committed: kept.then(at => at - begun)};
}

await momentOf(({event}) => event === 'serving');
mkdirSync(join(home, 'sessions/bench'), {recursive: true});
await sleep(1_000);
for (let i = 0; i < 30; i++) await turn(`warm-${i}`, true);
await sleep(300);

// A message in a session that sleeps: saved in place, as `agentdir send` does, and by a rename.
const edited = [];
const renamed = [];
const sent = [];
const sentTurns = [];
for (let i = 0; i < 90; i++) {
  const id = `warm-${i % 20}`;
  const before = readFileSync(fileOf(id));
  const text = before.toString().replace('status: sleeping', 'status: active') + message();
  const done = answered(id);
  const begun = performance.now();
  [edited, sent, renamed][i % 3].push(performance.timeOrigin + performance.now());
  if (i % 3 === 0) writeFileSync(fileOf(id), text);
  else if (i % 3 === 2) {
    writeFileSync(`${fileOf(id)}.tmp`, text);
    renameSync(`${fileOf(id)}.tmp`, fileOf(id));
  } else await save(nodeDisk(home), {path: pathOf(id), expected: before, bytes: Buffer.from(text), durable: true});
  const took = (await done) - begun;
  if (i % 3 === 1) sentTurns.push(took);
  await sleep(30);
}

const single = [];
for (let i = 0; i < 60; i++) {
  single.push(await turn(`single-${i}`, true));
  await sleep(20);
}
const growing = [];
for (let i = 0; i < turns; i++) {
  growing.push((await turn('long', i === 0)).turned);
  await sleep(20);
}

await sleep(500);
const ids = Array.from({length: sessions}, (_, i) => `many-${i}`);
const begun = performance.now();
for (let round = 0; round < rounds; round++) {
  const all = Promise.all(ids.map(answered));
  for (const id of ids) say(id, round === 0);
  await all;
}
const rate = (sessions * rounds) / ((performance.now() - begun) / 1000);
const rss = process.memoryUsage().rss / 1024 / 1024;
const result = {
  edited,
  renamed,
  sent,
  sentTurns,
  turned: single.map(({turned}) => turned),
  worked: single.map(({worked}) => worked),
  committed: await Promise.all(single.map(({committed: at}) => at)),
  growing,
  rate,
  rss,
};
process.kill(process.pid, 'SIGTERM');
await served;
console.log(JSON.stringify(result));
