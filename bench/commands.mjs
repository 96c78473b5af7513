import {execFileSync} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {median, table, times} from './measure.mjs';

const main = fileURLToPath(new URL('../bin/main.js', import.meta.url));

/** Commands as a person runs them, against an empty Node. */
export default function commands() {
  const dir = mkdtempSync(join(tmpdir(), 'agentdir-bench-'));
  const run = args => execFileSync(process.execPath, args, {cwd: dir, stdio: 'pipe'});
  try {
    run([main, 'init', '.']);
    const node = median(() => run(['-e', '0']), {least: 5, most: 10});
    const rows = [['node -e 0', node, '']];
    for (const args of [['--version'], ['agent'], ['tasks'], ['check']]) {
      const ms = median(() => run([main, ...args]), {least: 5, most: 10});
      rows.push([`agentdir ${args.join(' ')}`, ms, times(ms, node)]);
    }
    for (let i = 0; i < 1000; i++)
      writeFileSync(
        join(dir, 'sessions', `s${i}.session.yaml`),
        `agent_id: planner-001\nmessages:\n  - role: user\n    content: Hello ${i}\n`,
      );
    const ms = median(() => run([main, 'check']), {least: 3, most: 5});
    rows.push(['agentdir check, 1,000 sessions', ms, times(ms, node)]);
    table('commands, ms', ['command', 'ms', 'to node'], rows);
  } finally {
    rmSync(dir, {recursive: true, force: true});
  }
}
