import {spawnSync} from 'node:child_process';
import {rmSync} from 'node:fs';
import {makeHome, program} from './daemon-home.mjs';
import {median, rounds, table, times} from './measure.mjs';
import {moreAtMost, row} from './row.mjs';

/** Each as a person types it first, in a new home. */
const commands = [
  ['--version'],
  ['--help'],
  ['status'],
  ['agent'],
  ['tasks'],
  ['tasks', 'SELECT id FROM tasks'],
  ['check'],
  ['list'],
  ['peek'],
  ['log'],
  ['show', 'executor-001'],
  ['approvals'],
  ['policy', 'explain', 'git log | head'],
  ['policy', 'test'],
  ['verify'],
  ['replay', '--all'],
  ['workspace'],
  ['doctor'],
  ['completions', 'bash'],
];
const often = {least: 5, most: 10};

/** Commands as a person runs them, against an empty Node. */
export default function commandsBench() {
  const env = {...process.env};
  // Reading certificates takes Node longer than all the rest.
  delete env.NODE_EXTRA_CA_CERTS;
  const run = args => spawnSync(process.execPath, args, {env, stdio: 'ignore'});
  const homes = [];
  const home = sessions => {
    homes.push(makeHome(sessions));
    return homes.at(-1);
  };
  try {
    const node = median(() => run(['-e', '0']), often);
    const baseline = {name: 'node -e 0', value: node};
    const rows = [['node -e 0', node, '', '']];
    const measure = (name, dir, args, goal) => {
      const ms = median(() => run([program, '--home', dir, ...args]), often);
      rows.push([name, ms, ms - node, times(ms, node)]);
      row(name, {ours: ms, baseline, ...(goal && {goal})});
    };
    const goal = moreAtMost(150, 'issue 10');
    const small = home(1);
    for (const args of rounds(commands, commands.slice(0, 9))) measure(`agentdir ${args.join(' ')}`, small, args, goal);
    measure('completing an id, of 10,000 sessions', home(10_000), ['__complete', '--', 'show', 'pl'], goal);
    measure('agentdir check, with 1,000 sessions', home(1_000), ['check']);
    table('commands, ms', ['command', 'ms', 'beyond node', 'to node'], rows);
  } finally {
    for (const dir of homes) rmSync(dir, {recursive: true, force: true});
  }
}
