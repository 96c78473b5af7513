import {spawn, spawnSync} from 'node:child_process';
import {rmSync} from 'node:fs';
import {createInterface} from 'node:readline';
import {setTimeout as sleep} from 'node:timers/promises';
import {makeHome, program} from './daemon-home.mjs';
import {median, rounds, table} from './measure.mjs';
import {atMost, row} from './row.mjs';

const SESSIONS = 10_000;

/** `agentdir status` in a home of many sessions, as a person runs it: with the daemon, and without. */
export default async function status() {
  const home = makeHome(SESSIONS);
  const run = args => {
    const {status, stderr} = spawnSync(process.execPath, args, {cwd: home, stdio: 'pipe'});
    // 5: no daemon serves it.
    if (status !== 0 && status !== 5) throw new Error(`agentdir status ended with ${status}: ${stderr}`);
  };
  const measured = () => median(() => run([program, 'status']), {least: rounds(11, 5), most: rounds(11, 5)});
  try {
    const node = median(() => run(['-e', '0']), {least: 5, most: 10});
    const daemon = await start(home);
    const beside = measured();
    await daemon.stop();
    const alone = measured();
    rmSync(`${home}/.agentdir`, {recursive: true, force: true});
    const first = median(() => run([program, 'status']), {least: 3, most: 3});
    const goal = atMost(300, 'issue 10');
    const baseline = {name: 'node -e 0', value: node};
    row(`status, ${SESSIONS.toLocaleString('en-US')} sessions, daemon runs`, {ours: beside, baseline, goal});
    row(`status, ${SESSIONS.toLocaleString('en-US')} sessions, no daemon`, {ours: alone, baseline, goal});
    row(`status, ${SESSIONS.toLocaleString('en-US')} sessions, never a daemon`, {ours: first, baseline, goal});
    table(
      `agentdir status, ${SESSIONS} sessions, ms`,
      ['', 'ms'],
      [
        ['node -e 0', node],
        ['beside the daemon', beside],
        ['after the daemon has ended', alone],
        ['where no daemon has run', first],
      ],
    );
  } finally {
    rmSync(home, {recursive: true, force: true});
  }
}

async function start(home) {
  const child = spawn(process.execPath, [program, 'start', '--json', '--home', home], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise(resolve => child.once('exit', resolve));
  await new Promise(resolve => {
    createInterface({input: child.stdout}).on('line', line => {
      if (JSON.parse(line).event === 'serving') resolve();
    });
  });
  await sleep(3_000);
  return {
    stop: () => {
      child.kill('SIGTERM');
      return exited;
    },
  };
}
