import {execFile, spawn} from 'node:child_process';
import {rmSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {times as ratio, rounds, table} from './measure.mjs';
import {ratioAtMost, row} from './row.mjs';
import {makeHome} from './turns.mjs';

const SIZES = [20, 2_000, 20_000];
const ROUNDS = rounds(15, 5);
const MOST = {2000: 1.3, 20000: 3};

const here = name => fileURLToPath(new URL(name, import.meta.url));
const middle = values => [...values].sort((a, b) => a - b)[values.length >> 1];

/**
 * What a turn costs in a long conversation, beside one of 20 messages. A request has the whole conversation, whoever sends it:
 * a bare loop over the openai package shows how much of the cost that is.
 */
export default async function long() {
  const server = spawn(process.execPath, [here('long-server.mjs')], {stdio: ['ignore', 'pipe', 'inherit']});
  const url = await new Promise(resolve => server.stdout.once('data', data => resolve(data.toString().trim())));
  const home = makeHome(url);
  try {
    const bare = await inChild('long-loop.mjs', url);
    const ours = await inChild('long-daemon.mjs', home);
    print(bare, ours);
    for (const size of SIZES.slice(1))
      row(`a turn in a conversation of ${size} messages`, {
        ours: of(ours, size),
        baseline: {
          name: 'of 20 messages, and what the request adds',
          value: of(ours, 20) + of(bare, size) - of(bare, 20),
        },
        goal: ratioAtMost(MOST[size], 'issue 22'),
      });
  } finally {
    server.kill();
    rmSync(home, {recursive: true, force: true});
  }
}

async function inChild(script, argument) {
  const args = [here(script), argument, String(ROUNDS), SIZES.join()];
  const {stdout} = await promisify(execFile)(process.execPath, args, {maxBuffer: 1 << 26});
  return JSON.parse(stdout);
}

const of = (measured, size, key = 'ms') => middle(measured.filter(each => each.size === size).map(each => each[key]));

function print(bare, ours) {
  const lines = (name, measured) =>
    SIZES.map(size => [
      `${name}, ${size} messages`,
      of(measured, size),
      ratio(of(measured, size), of(measured, SIZES[0])),
      of(measured, size, 'cpu'),
    ]);
  table(
    'one turn: a message is saved until its answer is in the file, ms',
    ['', 'median', `to ${SIZES[0]} messages`, 'CPU'],
    [...lines('bare openai loop', bare), ...lines('agentdir', ours)],
  );
}
