// node daemon-edits.mjs HOME: serve the home in this process, save sessions, and print as JSON how long things took.
import {execFileSync} from 'node:child_process';
import {readdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {monitorEventLoopDelay} from 'node:perf_hooks';
import {setTimeout as sleep} from 'node:timers/promises';
import {pathOf, textOf} from './daemon-home.mjs';
import {rounds} from './measure.mjs';
import {serveHere} from './serve-here.mjs';

const home = process.argv[2];
const count = readdirSync(join(home, 'sessions'), {recursive: true}).filter(name => /session.yaml$/.test(name)).length;
const delay = monitorEventLoopDelay({resolution: 5});
const {served, momentOf} = serveHere(home);

let saves = 0;
/** Save session `i` in place, as something it never was: the text, and when it is seen and committed. */
function save(i) {
  const path = pathOf(i % count);
  const text = textOf(i % count, ` Look again, ${++saves}.`);
  const seen = momentOf(({event, path: of}) => event === 'seen' && of === path, 1_000);
  const committed = momentOf(({event, paths}) => event === 'committed' && paths.includes(path), 5_000);
  const begun = performance.now();
  writeFileSync(join(home, path), text);
  return {path, text, seen: seen.then(at => at - begun), committed: committed.then(at => at - begun)};
}

const of = values => {
  const sorted = [...values].sort((a, b) => a - b);
  return {median: sorted[sorted.length >> 1], p95: sorted[Math.floor(sorted.length * 0.95)]};
};

await momentOf(({event}) => event === 'serving', 60_000);
delay.enable();
await sleep(rounds(4_000, 2_000));
const block = delay.max / 1e6;
delay.disable();

// One after the other, with time between them.
const seen = [];
const committed = [];
for (let i = 0; i < rounds(35, 15); i++) {
  const one = save(i * 7);
  const times = [await one.seen, await one.committed];
  // The first few warm up.
  if (i >= 5) {
    seen.push(times[0]);
    committed.push(times[1]);
  }
  await sleep(150 + Math.random() * 150);
}

/** Two writes of one session 10 to 40 ms apart: the second. */
async function saveTwice(i) {
  save(i);
  await sleep(10 + Math.random() * 30);
  const last = save(i);
  return {...last, took: await last.seen};
}

// How soon the second is seen, one pair after the other.
let stale = 0;
const second = [];
for (let i = 0; i < rounds(40, 15); i++) {
  const {took} = await saveTwice(i);
  if (took === Number.POSITIVE_INFINITY) stale++;
  else second.push(took);
  await sleep(300);
}

// Whether any is stale, ten pairs at a time.
let tries = 0;
for (; tries < rounds(200, 30); tries += 10) {
  const pairs = await Promise.all(Array.from({length: 10}, (_, i) => saveTwice(tries + i)));
  await sleep(900);
  for (const {path, text, took} of pairs) {
    const inGit = execFileSync('git', ['-C', home, 'show', `HEAD:${path}`], {encoding: 'utf8'});
    if (inGit !== text || took === Number.POSITIVE_INFINITY) stale++;
  }
}

const cpuMs = () => process.cpuUsage().user / 1_000 + process.cpuUsage().system / 1_000;
let before = cpuMs();
const idleSeconds = rounds(6, 2);
await sleep(idleSeconds * 1_000);
const idle = (cpuMs() - before) / idleSeconds;

// Ten at once: as many as the smallest home has.
const cpus = [];
const walls = [];
for (let round = 0; round < rounds(24, 12); round++) {
  before = cpuMs();
  const begun = performance.now();
  const batch = Array.from({length: 10}, (_, i) => save(round * 10 + i));
  await Promise.all(batch.map(({committed}) => committed));
  const wall = performance.now() - begun;
  if (round >= 4) {
    walls.push(wall / 10);
    cpus.push((cpuMs() - before - (idle * wall) / 1_000) / 10);
  }
  await sleep(300);
}

process.stdout.write(
  JSON.stringify({
    seen: of(seen),
    committed: of(committed),
    second: of(second),
    stale,
    tries,
    idle,
    block,
    cpu: of(cpus).median,
    wall: of(walls).median,
  }),
);
process.emit('SIGTERM', 'SIGTERM');
await served;
