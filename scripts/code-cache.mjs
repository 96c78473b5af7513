// bin/**/*.js.code: what V8 made of the program while it did what it mostly does. src/launch.cts hands it to V8 again.
import {spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

const recorder = fileURLToPath(new URL('record-code.cjs', import.meta.url));

/** Commands that only look. What they load is compiled already when a person runs them. */
const looks = [
  ...[
    ['--help'],
    ['completions', 'bash'],
    ['__complete', '--', 'show', ''],
    ['check'],
    ['status'],
    ['approvals'],
    ['log'],
  ],
  ...[
    ['list'],
    ['tasks'],
    ['tasks', 'SELECT id FROM tasks'],
    ['agent'],
    ['agent', 'planner-001'],
    ['show', 'planner-001'],
  ],
  ...[['peek'], ['doctor'], ['policy', 'explain', 'git log | head'], ['policy', 'test'], ['workspace']],
];
/** The same, where something has happened. */
const later = [['verify'], ['replay', '--all'], ['list'], ['peek'], ['log'], ['approvals'], ['show', 'executor-001-']];

/** A home is made and served in a temporary folder. What goes wrong costs speed and nothing else: the cache is left out. */
export function makeCode(bin) {
  const folder = mkdtempSync(join(tmpdir(), 'agentdir-build-'));
  const home = join(folder, 'home');
  const env = {PATH: process.env.PATH, HOME: folder};
  const run = (...args) =>
    spawnSync(process.execPath, ['--require', recorder, join(bin, 'main.js'), '--home', home, ...args], {
      cwd: folder,
      env,
      stdio: 'ignore',
      timeout: 60_000,
    });
  try {
    run('init', home);
    for (const args of looks) run(...args);
    run('send', 'show me an approval', '--to', 'executor-001');
    run('start', '--once');
    run('policy', 'what-if', '--allowlist', join(home, 'allowlist.yaml'));
    run('chat');
    for (const args of later) run(...args);
  } finally {
    rmSync(folder, {recursive: true, force: true});
  }
}
