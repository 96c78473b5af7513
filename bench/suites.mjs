/**
 * All suites: the module whose default export runs one, and the seconds it takes on a quiet machine of 2 cores, whole and with --quick.
 * One that takes far longer is ended. `installs`: seconds that it may need once, to fetch what it compares with.
 */
export const suites = {
  sessions: {load: () => import('./sessions.mjs'), seconds: [25, 6]},
  tasks: {load: () => import('./tasks.mjs'), seconds: [20, 6]},
  'tasks-sql': {load: () => import('./tasks-sql.mjs'), seconds: [20, 10]},
  check: {load: () => import('./check.mjs'), seconds: [25, 10]},
  merge: {load: () => import('./merge.mjs'), seconds: [50, 8]},
  policy: {load: () => import('./policy.mjs'), seconds: [4, 2]},
  markdown: {load: () => import('./markdown.mjs'), seconds: [60, 6]},
  hostile: {load: () => import('./hostile-bench.mjs'), seconds: [420, 20]},
  redact: {load: () => import('./redact.mjs'), seconds: [30, 8]},
  commands: {load: () => import('./commands.mjs'), seconds: [60, 18]},
  chat: {load: () => import('./chat.mjs'), seconds: [20, 8]},
  status: {load: () => import('./status.mjs'), seconds: [20, 12]},
  journal: {load: () => import('./journal.mjs'), seconds: [220, 30]},
  daemon: {load: () => import('./daemon.mjs'), seconds: [180, 40]},
  turns: {load: () => import('./turns.mjs'), seconds: [30, 12]},
  long: {load: () => import('./long.mjs'), seconds: [30, 12]},
  forever: {load: () => import('./forever.mjs'), seconds: [60, 0]},
  delegation: {load: () => import('./delegation.mjs'), seconds: [40, 0]},
  bystander: {load: () => import('./bystander.mjs'), seconds: [40, 10]},
  peers: {load: () => import('./peers.mjs'), seconds: [40, 15], installs: 900},
  tools: {load: () => import('./tools.mjs'), seconds: [45, 18]},
  sandbox: {load: () => import('./sandbox.mjs'), seconds: [15, 3]},
  search: {load: () => import('./search.mjs'), seconds: [40, 15]},
  workspace: {load: () => import('./workspace.mjs'), seconds: [20, 5]},
  approvals: {load: () => import('./approvals.mjs'), seconds: [90, 25]},
  together: {load: () => import('./together.mjs'), seconds: [35, 12]},
  inbox: {load: () => import('./inbox.mjs'), seconds: [60, 15]},
  replay: {load: () => import('./replay.mjs'), seconds: [40, 4]},
};
