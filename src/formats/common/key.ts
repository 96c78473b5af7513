/** Kinds of files in the home, determined by path alone. */
export const kinds = [
  'settings',
  'policy',
  'template',
  'session',
  'checkpoint',
  'tasks',
  'approval',
  'inbox',
  'rejected',
  'memory',
  'playbook',
  'workflow',
  'run',
  'channel',
  'document',
  'state',
  'conflict',
] as const;
export type Kind = (typeof kinds)[number];

/** `direct`: not in folders below. */
const endings: readonly {kind: Kind; folder: string; ending: string; direct?: true}[] = [
  {kind: 'template', folder: 'templates/', ending: '.agent.yaml'},
  {kind: 'template', folder: 'templates/', ending: '.agent.md'},
  {kind: 'session', folder: 'sessions/', ending: '.session.yaml'},
  {kind: 'checkpoint', folder: 'sessions/archive/', ending: '.md'},
  {kind: 'tasks', folder: 'tasks/', ending: '.task.md'},
  {kind: 'approval', folder: 'approvals/', ending: '.approval.md'},
  {kind: 'rejected', folder: 'inbox/rejected/', ending: '.jsonl'},
  {kind: 'inbox', folder: 'inbox/', ending: '.jsonl'},
  {kind: 'memory', folder: 'memory/', ending: '.md'},
  {kind: 'playbook', folder: 'playbooks/', ending: '.playbook.yaml'},
  {kind: 'workflow', folder: 'workflows/', ending: '.workflow.yaml'},
  {kind: 'workflow', folder: 'workflows/', ending: '.workflow.yml'},
  {kind: 'workflow', folder: 'workflows/', ending: '.yaml', direct: true},
  {kind: 'workflow', folder: 'workflows/', ending: '.yml', direct: true},
  {kind: 'run', folder: '.workflow/', ending: 'run.yaml'},
  {kind: 'channel', folder: '.workflow/', ending: 'channel.md'},
  {kind: 'document', folder: '.workflow/', ending: 'notes.md'},
  {kind: 'state', folder: 'state/', ending: '.yaml'},
  {kind: 'conflict', folder: 'conflicts/', ending: ''},
];

/** Top-level folders with files of the home. */
export const folders: readonly string[] = [...new Set(endings.map(e => e.folder.slice(0, e.folder.indexOf('/'))))];

/** Handled times of schedules. */
export const SLOTS_FILE = 'state/schedules.yaml';

/** Agents that are stopped. */
export const HOLDS_FILE = 'state/agents.yaml';

/** Kinds whose changes the journal records. Inboxes are raw input, and each delivered line is in a session. */
export function isJournalled(kind: Kind): boolean {
  return kind !== 'inbox' && kind !== 'rejected';
}

/** Temporary files of editors and tools. */
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

/** `path` is relative to the home, with "/". Undefined: not a file of ours. */
export function kindOf(path: string): Kind | undefined {
  if (path === 'agentdir.yaml') return 'settings';
  if (path === 'allowlist.yaml') return 'policy';
  const found = layoutOf(path);
  if (!found) return undefined;
  const {kind, folder, ending} = found;
  if (path.startsWith('.', folder.length) || path.includes('/.', folder.length)) return undefined;
  if (kind === 'checkpoint' && !CHECKPOINT.test(path)) return undefined;
  // With one of our endings, only the start of the name can mark a temporary file.
  if (ending === '' ? isLeftover(nameOf(path)) : path.includes('~') && nameOf(path).startsWith('~')) return undefined;
  // Inboxes have no subfolders except inbox/rejected/.
  return !isJournalled(kind) && path.includes('/', folder.length) ? undefined : kind;
}

const CHECKPOINT = /\.compact\.\d+\.md$/;

/** The file of a version of a session's context. */
export function checkpointPath(session: string, version: number): string {
  return `sessions/archive/${session}.compact.${version}.md`;
}

/**
 * The names that a file would need to be read, if it lies in a folder of ours and looks as if it were to be: for
 * `templates/x.md` these are `templates/x.agent.yaml` and `templates/x.agent.md`.
 */
export function expectedNames(path: string): string[] {
  const name = nameOf(path);
  const [, stem] = /^([^.~#][^.]*)(?:\.[\w-]+)*?\.(?:md|ya?ml|jsonl?|txt)$/i.exec(name) ?? [];
  if (stem === undefined || isLeftover(name) || /^(?:README|AGENTS|CLAUDE)\.md$/i.test(name) || kindOf(path)) return [];
  return endings
    .filter(({kind, folder, ending}) => named.has(kind) && path === folder + name && ending !== '')
    .map(({folder, ending}) => folder + stem + ending);
}

const named: ReadonlySet<Kind> = new Set<Kind>(['template', 'session', 'tasks', 'inbox', 'playbook', 'workflow']);

function layoutOf(path: string): (typeof endings)[number] | undefined {
  for (const layout of endings) {
    const {kind, folder, ending, direct} = layout;
    if (!path.startsWith(folder) || !path.endsWith(ending)) continue;
    if (direct && path.includes('/', folder.length)) continue;
    const alone = path.charCodeAt(path.length - ending.length - 1) === SLASH;
    if (alone === ofInstance.has(kind)) return layout;
  }
  return undefined;
}

const SLASH = 47;

/** Kinds of files with a fixed name, in the folder of a workflow instance. */
const ofInstance: ReadonlySet<Kind> = new Set<Kind>(['run', 'channel', 'document']);

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** File name without its ending: the id of its content. */
export function stemOf(path: string): string {
  const name = nameOf(path);
  const found = layoutOf(path);
  return found && !ofInstance.has(found.kind) && found.ending !== '' ? name.slice(0, -found.ending.length) : name;
}

/** Whether a file holds older messages of another session file. */
export function isSegment(path: string): boolean {
  return /^sessions\/archive\/[^/]+\.\d+\.session\.yaml$/.test(path);
}

/** Kinds whose ids are unique in the home, in whatever folder. */
const byId: ReadonlySet<Kind> = new Set(['template', 'session', 'approval']);

/** Queue key of a file: `session/planner-001-abc123`, `tasks/redis-check`. */
export function keyOf(path: string): string | undefined {
  const kind = kindOf(path);
  if (!kind) return undefined;
  const found = layoutOf(path);
  if (!found || byId.has(kind)) return `${kind}/${stemOf(path)}`;
  const inner = path.slice(found.folder.length);
  const name = inner.slice(0, inner.length - found.ending.length);
  return `${kind}/${ofInstance.has(kind) ? name.slice(0, -1) : name}`;
}
