/** What a file of the home is, by its path alone. */
export const kinds = [
  'settings',
  'policy',
  'template',
  'session',
  'tasks',
  'approval',
  'inbox',
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
  {kind: 'inbox', folder: 'inbox/', ending: '.jsonl'},
  {kind: 'memory', folder: 'memory/', ending: '.md'},
  {kind: 'playbook', folder: 'playbooks/', ending: '.playbook.yaml'},
  {kind: 'workflow', folder: 'workflows/', ending: '.workflow.yaml'},
  {kind: 'channel', folder: '.workflow/', ending: 'channel.md'},
  {kind: 'state', folder: 'state/', ending: '.yaml'},
  {kind: 'conflict', folder: 'conflicts/', ending: ''},
];

/** Folders in which files of the home live. */
export const folders: readonly string[] = [...new Set(endings.map(e => e.folder.slice(0, -1)))];

/** Kinds whose changes the journal records; inboxes are raw input, and each delivered line is in a session. */
export function isJournalled(kind: Kind): boolean {
  return kind !== 'inbox';
}

/** What editors and tools leave beside the file they write: never data. */
export function isLeftover(name: string): boolean {
  return (
    name.startsWith('.') ||
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
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (isLeftover(name) || path.startsWith('inbox/rejected/')) return undefined;
  const found = endings.find(
    e =>
      path.startsWith(e.folder) &&
      name.endsWith(e.ending) &&
      name.length > e.ending.length - (e.ending === 'channel.md' ? 1 : 0),
  );
  if (!found) return undefined;
  const hidden = path
    .slice(found.folder.length)
    .split('/')
    .slice(0, -1)
    .some(part => part.startsWith('.'));
  return hidden ? undefined : found.kind;
}

/** The file name without its ending: the id of what it holds. */
export function stemOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const found = endings.find(
    e => e.ending !== '' && e.ending !== 'channel.md' && path.startsWith(e.folder) && name.endsWith(e.ending),
  );
  return found ? name.slice(0, -found.ending.length) : name;
}

/** The name of a thing to look at: `session/planner-001-abc123`, `tasks/redis-check`. All that a queue ever holds. */
export function keyOf(path: string): string | undefined {
  const kind = kindOf(path);
  return kind && `${kind}/${stemOf(path)}`;
}
