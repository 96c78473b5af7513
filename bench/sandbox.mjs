import {spawn} from 'node:child_process';
import {mkdirSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {findBubblewrap} from '../dist/effects/sandbox/bubblewrap.js';
import {runPrograms} from '../dist/effects/sandbox/run.js';
import {rounds, table, times} from './measure.mjs';
import {ratioAtMost, skipped, row as tell} from './row.mjs';

const ROUNDS = rounds(200, 60);

/** `true` as an agent's command, against spawns that do nothing but start it; taken in turns, so that load falls on all. */
export default async function sandbox() {
  const bubblewrap = await findBubblewrap();
  if (!bubblewrap || 'problem' in bubblewrap)
    return skipped('a confined command', `no bubblewrap: ${bubblewrap?.problem ?? 'not installed'}`);
  const home = mkdtempSync(join(tmpdir(), 'agentdir-bench-'));
  const workspace = join(home, 'workspaces', 'a');
  mkdirSync(workspace, {recursive: true});
  const ours = (argvs, options) => () =>
    runPrograms({
      programs: argvs.map((argv, i) => ({
        argv,
        operator: i === 0 ? '' : '|',
        confined: true,
        network: false,
        ...options,
      })),
      ...{home, workspace, readOnly: false, mark: 'bench', timeoutMs: 10_000, mostOutput: 1 << 20},
      ...{signal: new AbortController().signal, onOutput: () => {}},
    });
  const work = {
    'bare bwrap': () => bare(bubblewrap.path, ['--dev-bind', '/', '/', 'true']),
    'run, confined': ours([['true']]),
    'run, confined, with network': ours([['true']], {network: true}),
    'run, confined, three in a pipe': ours([['true'], ['true'], ['true']]),
    'bare true': () => bare('/bin/true', []),
    'run, on the host': ours([['true']], {confined: false}),
  };
  try {
    const ms = await inTurns(work);
    const told = (name, to, goal) => tell(name, {ours: ms[name], baseline: {name: to, value: ms[to]}, ...goal});
    const goal = {goal: ratioAtMost(3, 'issue 5')};
    told('run, confined', 'bare bwrap', goal);
    told('run, confined, with network', 'bare bwrap', goal);
    told('run, confined, three in a pipe', 'bare bwrap');
    told('run, on the host', 'bare true');
    const row = (name, to) => [name, ms[name], times(ms[name], ms[to])];
    table(
      'sandbox, ms',
      ['true', 'ms', 'to bare'],
      [
        ...Object.keys(work)
          .slice(0, 4)
          .map(name => row(name, 'bare bwrap')),
        ...Object.keys(work)
          .slice(4)
          .map(name => row(name, 'bare true')),
      ],
    );
  } finally {
    rmSync(home, {recursive: true, force: true});
  }
}

function bare(file, args) {
  return new Promise((resolve, reject) => {
    spawn(file, args, {stdio: ['ignore', 'pipe', 'pipe']})
      .on('error', reject)
      .on('close', resolve);
  });
}

/** The median of each. */
async function inTurns(work) {
  const all = Object.fromEntries(Object.keys(work).map(name => [name, []]));
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, one] of Object.entries(work)) {
      const start = performance.now();
      await one();
      all[name].push(performance.now() - start);
    }
  return Object.fromEntries(Object.entries(all).map(([name, list]) => [name, list.sort((a, b) => a - b)[ROUNDS >> 1]]));
}
