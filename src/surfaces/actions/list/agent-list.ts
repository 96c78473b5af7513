import {parseFile} from '../../../check/parse-file.ts';
import {stemOf} from '../../../formats/common/key.ts';
import {type Run, runPath} from '../../../formats/run.ts';
import type {TemplateValue} from '../../../formats/template.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {listFolder, readHomeFile} from '../../../home/read.ts';
import {type Holds, soundHolds} from '../agents/holds.ts';
import {allRuns} from '../instances/instances.ts';
import type {SessionRow} from '../talk/rows.ts';

/** `running`: a session is at work. `stopped`, `failed`: held by a person, or because its instance is. `wrong`: the template has errors. */
export type ListedStatus = 'running' | 'waiting' | 'error' | 'paused' | 'idle' | 'stopped' | 'failed' | 'wrong';

/** An agent of the home, or of a workflow instance: `reviewer@pr-123`. */
export interface AgentRow {
  id: string;
  name: string;
  /** The workflow file; null for agents of the home, and for those that `new --context` added. */
  source: string | null;
  status: ListedStatus;
  model: string | null;
  file: string;
  description: string | null;
  /** The template has errors: the agent does not run. */
  error: boolean;
  kind: 'persistent' | 'ephemeral';
  /** How many sessions it has, by status. */
  sessions: Record<string, number>;
}

/** All agents, those of the home first. */
export function agentRows(home: string, sessions: readonly SessionRow[]): AgentRow[] {
  const holds = soundHolds(home);
  const templates = templatesOf(home);
  const runs = allRuns(home);
  const members = new Set(runs.flatMap(membersOf));
  const counts = new Map<string, Record<string, number>>();
  for (const {agent, status} of sessions) {
    const owner = agent === null || members.has(agent) ? agent : (agent.split('@')[0] ?? agent);
    if (owner === null) continue;
    const known = counts.get(owner) ?? {};
    counts.set(owner, {...known, [status]: (known[status] ?? 0) + 1});
  }
  const own = [...templates].map(([id, {path, value}]): AgentRow => {
    const found = counts.get(id) ?? {};
    return {
      ...{id, name: id, source: null},
      status: value ? (holds[id]?.status ?? statusOf(found)) : 'wrong',
      model: value ? (value.model ?? 'default') : null,
      ...{file: path, description: value?.description ?? null, error: !value},
      kind: value?.ephemeral ? 'ephemeral' : 'persistent',
      sessions: found,
    };
  });
  return [...own, ...runs.flatMap(run => memberRows(run, {templates, holds, counts}))];
}

interface Known {
  templates: ReadonlyMap<string, {path: string; value: TemplateValue | undefined}>;
  holds: Holds;
  counts: ReadonlyMap<string, Record<string, number>>;
}

function membersOf({instance, definitions}: Run): string[] {
  return Object.keys(definitions).map(name => `${name}@${instance}`);
}

function memberRows(run: Run, {templates, holds, counts}: Known): AgentRow[] {
  return Object.entries(run.definitions).map(([member, {template, model, description}]) => {
    const id = `${member}@${run.instance}`;
    const base = template === undefined ? undefined : templates.get(template);
    const isWrong = template !== undefined && !base?.value;
    const found = counts.get(id) ?? {};
    const held = run.status === 'stopped' ? 'stopped' : holds[id]?.status;
    return {
      ...{id, name: id, source: run.workflow === 'none' ? null : run.workflow},
      status: isWrong ? 'wrong' : (held ?? statusOf(found)),
      model: isWrong ? null : (model ?? base?.value?.model ?? 'default'),
      file: runPath(run.instance),
      description: description ?? base?.value?.description ?? null,
      ...{error: isWrong, kind: 'persistent', sessions: found},
    };
  });
}

/** If two templates have one name, the first by path counts. */
function templatesOf(home: string): Known['templates'] {
  const found = new Map<string, {path: string; value: TemplateValue | undefined}>();
  for (const path of listFolder(nodeDisk(home), 'templates').sort()) {
    const id = stemOf(path);
    if (found.has(id)) continue;
    const read = readHomeFile(nodeDisk(home), path);
    const parsed = read && 'text' in read ? parseFile(path, read.text) : undefined;
    found.set(id, {path, value: parsed?.kind === 'template' ? parsed.file.value : undefined});
  }
  return found;
}

function statusOf(sessions: Readonly<Record<string, number>>): ListedStatus {
  if (sessions.active || sessions.new) return 'running';
  return (['waiting', 'error', 'paused'] as const).find(status => sessions[status]) ?? 'idle';
}
