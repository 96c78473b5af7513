import {execFile} from 'node:child_process';
import {rmSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {startFakeOpenAI} from '../test/model/fake-openai.mjs';
import {times as ratio, rounds, table} from './measure.mjs';
import {ratioAtMost, row} from './row.mjs';
import {makeHome, twoCalls} from './turns.mjs';

const AGENTS = rounds(1000, 200);
/** How long a model thinks. */
const LATENCY_MS = 30;
const middle = values => [...values].sort((a, b) => a - b)[values.length >> 1];

/** One person's edit while many agents are at work: how much later it is answered than in a quiet home. */
export default async function bystander() {
  const server = await startFakeOpenAI({
    keep: false,
    answer: (request, n) => ({...twoCalls(request, n), latency: LATENCY_MS}),
  });
  const home = makeHome(server.url);
  try {
    const script = fileURLToPath(new URL('bystander-daemon.mjs', import.meta.url));
    const {stdout} = await promisify(execFile)(process.execPath, [script, home, String(AGENTS)], {timeout: 300_000});
    const {quiet, busy, burst} = JSON.parse(stdout);
    const [before, during] = [middle(quiet), middle(busy)];
    table(
      `a person's edit until it is answered, ms; ${AGENTS} agents are answered in ${Math.round(burst)} ms`,
      ['', 'median', 'the slowest', 'edits'],
      [
        ['in a quiet home', before, Math.max(...quiet), quiet.length],
        ['beside the agents', during, Math.max(...busy), busy.length],
        ['', ratio(during, before), '', ''],
      ],
    );
    row(`a person's edit, answered beside ${AGENTS} agents at work`, {
      ours: during,
      baseline: {name: 'in a quiet home', value: before},
      goal: ratioAtMost(3, 'issue 22'),
    });
  } finally {
    await server.close();
    rmSync(home, {recursive: true, force: true});
  }
}
