import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {setTimeout as sleep} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {makeHome, program} from './daemon-home.mjs';
import {rounds, table, times} from './measure.mjs';
import {atMost, ratioAtMost, row} from './row.mjs';

const middle = values => [...values].sort((a, b) => a - b)[values.length >> 1];

/** The daemon: how soon it serves, how soon it sees and commits a save, what a change and its memory cost. */
export default async function daemon() {
  const homes = new Map();
  try {
    for (const count of rounds([10, 1_000, 10_000], [10, 10_000])) homes.set(count, makeHome(count));
    await startUp(homes.get(10_000));
    for (const count of homes.keys()) await start(homes.get(count), rounds(3_000, 1_500));
    const edits = [];
    for (const [count, home] of homes) edits.push([count, await inChild(home)]);
    const [, small] = edits[0];
    for (const [count, {seen, second, stale, tries, cpu, committed, idle}] of edits.slice(-1)) {
      const of = `of ${count.toLocaleString('en-US')} sessions`;
      row(`saved → seen, home ${of}`, {ours: seen.median, goal: atMost(5, 'issue 3')});
      row(`second of two writes 10 to 40 ms apart → seen`, {ours: second.median, goal: atMost(5, 'issue 3')});
      row(`stale, of ${tries} such pairs`, {ours: stale, unit: '', goal: atMost(0, 'issue 3')});
      row(`saved → committed, home ${of}`, {ours: committed.median});
      const baseline = {name: 'in a home of 10', value: small.cpu};
      row(`CPU of a change, home ${of}`, {ours: cpu, baseline, goal: ratioAtMost(1.5, 'issue 3')});
      row(`CPU of an idle second, home ${of}`, {ours: idle, baseline: {name: 'of 10', value: small.idle}});
    }
    table(
      'a session saved, ms',
      ['sessions', 'seen, median', 'p95', 'committed, median', 'p95', 'second of two writes, median', 'p95', 'stale'],
      edits.map(([count, {seen, committed, second, stale, tries}]) => [
        String(count),
        ...[seen, committed, second].flatMap(values => [values.median, values.p95]),
        `${stale} of ${tries}`,
      ]),
    );
    table(
      'what one change costs, ten sessions saved at once until all are committed, ms each',
      ['sessions', 'CPU', 'to 10', 'wall', 'to 10', 'CPU of an idle second', 'longest block of the loop'],
      edits.map(([count, {cpu, wall, idle, block}]) => [
        String(count),
        cpu,
        times(cpu, small.cpu),
        wall,
        times(wall, small.wall),
        idle,
        block,
      ]),
    );
  } finally {
    for (const home of homes.values()) rmSync(home, {recursive: true, force: true});
  }
}

/** Each round: the least anyone can do, a start with the cache of an earlier run, and a start without any. */
async function startUp(home) {
  const starts = [];
  await start(home, 3_000);
  for (let i = 0; i < rounds(5, 3); i++) {
    const least = walk(home);
    const cached = await start(home, 300);
    rmSync(join(home, '.agentdir'), {recursive: true});
    const cold = await start(home, 1_500);
    starts.push({least, cached, cold});
  }
  const of = (key, what) => middle(starts.map(one => one[key][what]));
  const line = (name, key) => {
    const took = of(key, 'ms');
    const ratios = [times(took, of('least', 'work')), times(took, of('least', 'whole'))];
    return [name, took, ...ratios, of(key, 'cpu'), of(key, 'rss'), of(key, 'later')];
  };
  const baseline = {name: 'find, stat, read', value: of('least', 'work')};
  const name = 'start, home of 10,000 sessions';
  row(`${name}, with a cache`, {ours: of('cached', 'ms'), baseline, goal: ratioAtMost(3, 'issue 3')});
  row(`${name}, without`, {ours: of('cold', 'ms'), baseline, goal: ratioAtMost(10, 'issue 3')});
  row('memory then, home of 10,000 sessions', {ours: of('cold', 'later'), unit: 'MB'});
  table(
    'start of a home with 10,000 sessions, until it serves, ms',
    ['', 'ms', 'to the work', 'to the process', 'CPU', 'memory then, MB', 'a while later'],
    [
      ['find + stat + one read of each: the work', of('least', 'work'), '', '', '', '', ''],
      ['the same as a process of Node', of('least', 'whole'), '', '', '', '', ''],
      line('agentdir start, with a cache', 'cached'),
      line('agentdir start, without', 'cold'),
    ],
  );
}

/** In a new process, as the daemon is one: what it measured itself, and from spawn to exit. */
function walk(home) {
  const script = fileURLToPath(new URL('daemon-walk.mjs', import.meta.url));
  const begun = performance.now();
  const work = Number(execFileSync(process.execPath, [script, home], {encoding: 'utf8'}));
  return {work, whole: performance.now() - begun};
}

/** From spawn to the event `serving`; then `more` milliseconds to go on, and a stop. */
async function start(home, more = 0) {
  const begun = performance.now();
  const child = spawn(process.execPath, [program, 'start', '--json', '--home', home], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const lines = createInterface(child.stdout);
  const serving = new Promise(resolve => {
    lines.on('line', line => {
      if (JSON.parse(line).event === 'serving') resolve(performance.now() - begun);
    });
  });
  const ms = await serving;
  const rss = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]) / 1024;
  // User and system time of all its threads, in ticks of 10 ms.
  const [user, system] = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ').slice(11, 13);
  const found = {ms, cpu: (Number(user) + Number(system)) * 10, rss: rss()};
  await sleep(more);
  const later = rss();
  child.kill('SIGTERM');
  await exited;
  return {...found, later};
}

/** The measurements of bench/daemon-edits.mjs, in a process of its own. */
async function inChild(home) {
  const script = fileURLToPath(new URL('daemon-edits.mjs', import.meta.url));
  const child = spawn(process.execPath, [script, home], {stdio: ['ignore', 'pipe', 'inherit']});
  let out = '';
  child.stdout.on('data', chunk => {
    out += chunk;
  });
  await once(child, 'close');
  return JSON.parse(out);
}
