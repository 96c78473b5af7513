// npm run bench [NAME…] prints ratios, all measured in this one run. Nothing here can fail: it only tells.
import {execFileSync} from 'node:child_process';
import {fileURLToPath} from 'node:url';

const suites = {
  sessions: () => import('./sessions.mjs'),
  tasks: () => import('./tasks.mjs'),
  'tasks-sql': () => import('./tasks-sql.mjs'),
  check: () => import('./check.mjs'),
  merge: () => import('./merge.mjs'),
  policy: () => import('./policy.mjs'),
  markdown: () => import('./markdown.mjs'),
  hostile: () => import('./hostile-bench.mjs'),
  redact: () => import('./redact.mjs'),
  commands: () => import('./commands.mjs'),
  journal: () => import('./journal.mjs'),
  daemon: () => import('./daemon.mjs'),
  turns: () => import('./turns.mjs'),
  tools: () => import('./tools.mjs'),
  sandbox: () => import('./sandbox.mjs'),
  search: () => import('./search.mjs'),
  workspace: () => import('./workspace.mjs'),
  approvals: () => import('./approvals.mjs'),
  together: () => import('./together.mjs'),
  inbox: () => import('./inbox.mjs'),
  replay: () => import('./replay.mjs'),
};

// Node reads these certificates at every start, which takes some 45 ms and is no part of what is measured.
const {NODE_EXTRA_CA_CERTS: _, ...environment} = process.env;

const wanted = process.argv.slice(2);
const names = wanted.length > 0 ? wanted : Object.keys(suites);
if (wanted.length === 1 && process.env.AGENTDIR_BENCH_CHILD) await (await suites[wanted[0]]()).default();
else {
  // Each suite in a process of its own: what one leaves in memory must not slow the next.
  for (const name of names) {
    if (!suites[name]) throw new Error(`no suite ${name}; there are ${Object.keys(suites).join(', ')}`);
    execFileSync(process.execPath, [fileURLToPath(import.meta.url), name], {
      stdio: 'inherit',
      env: {...environment, AGENTDIR_BENCH_CHILD: '1'},
    });
  }
}
