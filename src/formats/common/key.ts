/** What a file of the home is, by its path alone. */
export const kinds = [
  'settings',
  'policy',
  'template',
  'session',
  'tasks',
  'approval',
  'inbox',
  'rejected',
  'memory',
  'playbook',
  'workflow',
  'channel',
  'state',
  'conflict',
] as const;
export type Kind = (typeof kinds)[number];

const endings: readonly {kind: Kind; folder: string; ending: string}[] = [
  {kind: 'template', folder: 'templates/', ending: '.agent.yaml'},
  {kind: 'template', folder: 'templates/', ending: '.agent.md'},
  {kind: 'session', folder: 'sessions/', ending: '.session.yaml'},
  {kind: 'tasks', folder: 'tasks/', ending: '.task.md'},
  {kind: 'approval', folder: 'approvals/', ending: '.approval.md'},
  {kind: 'rejected', folder: 'inbox/rejected/', ending: '.jsonl'},
  {kind: 'inbox', folder: 'inbox/', ending: '.jsonl'},
  {kind: 'memory', folder: 'memory/', ending: '.md'},
  {kind: 'playbook', folder: 'playbooks/', ending: '.playbook.yaml'},
  {kind: 'workflow', folder: 'workflows/', ending: '.workflow.yaml'},
  {kind: 'channel', folder: '.workflow/', ending: 'channel.md'},
  {kind: 'state', folder: 'state/', ending: '.yaml'},
  {kind: 'conflict', folder: 'conflicts/', ending: ''},
];

/** Folders in which files of the home live. */
export const folders: readonly string[] = [...new Set(endings.map(e => e.folder.slice(0, e.folder.indexOf('/'))))];

/** Which times of the schedules are dealt with. */
export const SLOTS_FILE = 'state/schedules.yaml';

/** Kinds whose changes the journal records; inboxes are raw input, and each delivered line is in a session. */
export function isJournalled(kind: Kind): boolean {
  return kind !== 'inbox' && kind !== 'rejected';
}

/** What editors and tools leave beside the file they write: never data. */
export function isLeftover(name: string): boolean {
  return (
    name.startsWith('.') ||
    name.startsWith('~') ||
    name.endsWith('~') ||
    (name.startsWith('#') && name.endsWith('#')) ||
    /\.(?:sw[a-z]|tmp|temp|bak|orig|rej|part|crdownload|crswap|lock)$/i.test(name) ||
    /___jb_(?:tmp|old|bak)___$/.test(name) ||
    /\.sb-[0-9a-f]+-\w+$/.test(name) ||
    name === '4913'
  );
}

/** `path` is relative to the home, with "/". Undefined: none of our business. */
export function kindOf(path: string): Kind | undefined {
  if (path === 'agentdir.yaml') return 'settings';
  if (path === 'allowlist.yaml') return 'policy';
  const found = layoutOf(path);
  if (!found) return undefined;
  const {kind, folder, ending} = found;
  if (path.startsWith('.', folder.length) || path.includes('/.', folder.length)) return undefined;
  // What has one of our endings can only be told for a leftover by how it begins.
  if (ending === '' ? isLeftover(nameOf(path)) : path.includes('~') && nameOf(path).startsWith('~')) return undefined;
  // Inboxes have no subfolders but inbox/rejected/, which holds what was set aside.
  return !isJournalled(kind) && path.includes('/', folder.length) ? undefined : kind;
}

function layoutOf(path: string): (typeof endings)[number] | undefined {
  for (const layout of endings) {
    const {kind, folder, ending} = layout;
    if (!path.startsWith(folder) || !path.endsWith(ending)) continue;
    const alone = path.charCodeAt(path.length - ending.length - 1) === SLASH;
    if (alone === (kind === 'channel')) return layout;
  }
  return undefined;
}

const SLASH = 47;

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The file name without its ending: the id of what it holds. */
export function stemOf(path: string): string {
  const name = nameOf(path);
  const found = layoutOf(path);
  return found && found.kind !== 'channel' && found.ending !== '' ? name.slice(0, -found.ending.length) : name;
}

/** A segment holds older messages of another session file. */
export function isSegment(path: string): boolean {
  return path.startsWith('sessions/archive/') && /\.\d+$/.test(stemOf(path));
}

/** Kinds whose ids are unique in the home, whatever folder they are filed in. */
const byId: ReadonlySet<Kind> = new Set(['template', 'session', 'approval']);

/** The name of a thing to look at: `session/planner-001-abc123`, `tasks/redis-check`. All that a queue ever holds. */
export function keyOf(path: string): string | undefined {
  const kind = kindOf(path);
  if (!kind) return undefined;
  const found = layoutOf(path);
  if (!found || byId.has(kind)) return `${kind}/${stemOf(path)}`;
  const inner = path.slice(found.folder.length);
  return `${kind}/${kind === 'channel' ? inner.slice(0, -'/channel.md'.length) : inner.slice(0, inner.length - found.ending.length)}`;
}
