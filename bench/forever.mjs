import {execFile, spawn} from 'node:child_process';
import {appendFileSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {times as ratio, rounds, table} from './measure.mjs';
import {ratioAtMost, row} from './row.mjs';
import {makeHome} from './turns.mjs';

const TURNS = rounds(1_020, 320);
const WINDOW = 8_000;
/** Turns around the one that is meant: compactions fall on some of them. */
const AROUND = 19;

const here = name => fileURLToPath(new URL(name, import.meta.url));

/** A conversation that never ends: turn 1,000 beside turn 20 of the same session, in our own CPU, compactions and all. */
export default async function forever() {
  const server = spawn(process.execPath, [here('long-server.mjs')], {stdio: ['ignore', 'pipe', 'inherit']});
  const url = await new Promise(resolve => server.stdout.once('data', data => resolve(data.toString().trim())));
  const home = makeHome(url, `, context_tokens: ${WINDOW}`);
  try {
    appendFileSync(join(home, 'agentdir.yaml'), 'limits: {max_turns: 100000}\n');
    const args = [here('forever-daemon.mjs'), home, String(TURNS)];
    const {stdout} = await promisify(execFile)(process.execPath, args, {maxBuffer: 1 << 26});
    const {all, compactions} = JSON.parse(stdout);
    const around = turn => all.filter(({n}) => Math.abs(n - turn) <= AROUND);
    const [early, late] = [around(20), around(TURNS - 20)];
    table(
      `one conversation with a window of ${WINDOW} tokens, ${compactions} compactions: a turn, mean of ${early.length} and ${late.length}`,
      ['', 'CPU, ms', 'ms', 'to the first'],
      [
        ['around turn 20', mean(early, 'cpu'), mean(early, 'ms'), ''],
        [
          `around turn ${TURNS - 20}`,
          mean(late, 'cpu'),
          mean(late, 'ms'),
          ratio(mean(late, 'cpu'), mean(early, 'cpu')),
        ],
      ],
    );
    row(`CPU of turn ${TURNS - 20} of a compacted conversation`, {
      ours: mean(late, 'cpu'),
      baseline: {name: 'turn 20', value: mean(early, 'cpu')},
      goal: ratioAtMost(1.3, 'issue 26'),
    });
  } finally {
    server.kill();
    rmSync(home, {recursive: true, force: true});
  }
}

const mean = (measured, key) => measured.reduce((sum, each) => sum + each[key], 0) / measured.length;
