import {isQueue, parseFile} from '../../../check/parse-file.ts';
import type {Decision} from '../../../formats/approval/approval-review.ts';
import {hasErrors} from '../../../formats/common/diagnostic.ts';
import {kindOf} from '../../../formats/common/key.ts';
import {emptyPolicy, type Policy} from '../../../formats/rule.ts';
import {memberOf, memberTemplate, type Run, runPath} from '../../../formats/run.ts';
import type {Settings} from '../../../formats/settings.ts';
import {fieldOf} from '../../../formats/task/task.ts';
import type {TemplateValue} from '../../../formats/template.ts';

/** An item in one version of the queue. */
export interface PastItem {
  decision: Decision | undefined;
  status: string | undefined;
  /** When it was decided, according to the item. */
  at: string | undefined;
  field: (name: string) => string | undefined;
}

export interface PastPage {
  decision: Decision | undefined;
  /** The label of the editable part. */
  edits: string | undefined;
  /** Texts by label. */
  action: Readonly<Record<string, string>>;
}

/** Policy, settings, templates and approvals at a commit; of a file with errors, its former version. */
export interface HomeState {
  settings: Settings;
  policy: Policy;
  templates: Map<string, TemplateValue>;
  /** Workflow instances, by path. */
  runs: Map<string, Run>;
  queues: Map<string, ReadonlyMap<string, PastItem>>;
  /** Layered, since there may be many: changes of this commit override older ones. */
  pages: {below: Map<string, PastPage>; changed: Map<string, PastPage | undefined>};
}

export function emptyState(): HomeState {
  const pages = {below: new Map(), changed: new Map()};
  return {settings: {}, policy: emptyPolicy, templates: new Map(), runs: new Map(), queues: new Map(), pages};
}

/** A mutable copy; `state` is unchanged until `settleState`. */
export function nextState(state: HomeState): HomeState {
  const {templates, runs, queues, pages} = state;
  return {
    ...state,
    templates: new Map(templates),
    runs: new Map(runs),
    queues: new Map(queues),
    pages: {below: pages.below, changed: new Map()},
  };
}

/** Merges the layers when the former state is no longer needed. */
export function settleState({pages: {below, changed}}: HomeState): void {
  for (const [path, page] of changed) {
    if (page) below.set(path, page);
    else below.delete(path);
  }
  changed.clear();
}

/** Copies the state for another child commit. */
export function copyState(state: HomeState): HomeState {
  return {...nextState(state), pages: {below: new Map(state.pages.below), changed: new Map()}};
}

export function isOfState(path: string): boolean {
  const kind = kindOf(path);
  const kinds: readonly (string | undefined)[] = ['settings', 'policy', 'template', 'run', 'approval'];
  return kinds.includes(kind) || isQueue(path);
}

/** Applies the change of one file. False if it has errors; then the former version holds. */
export function applyFile(state: HomeState, path: string, text: string | undefined): boolean {
  if (text === undefined) {
    if (path === 'agentdir.yaml') state.settings = {};
    if (path === 'allowlist.yaml') state.policy = emptyPolicy;
    for (const files of [state.templates, state.runs, state.queues]) files.delete(path);
    state.pages.changed.set(path, undefined);
    return true;
  }
  const parsed = parseFile(path, text);
  switch (parsed?.kind) {
    case 'settings':
      if (parsed.file.value) state.settings = parsed.file.value;
      return parsed.file.value !== undefined;
    case 'policy':
      if (hasErrors(parsed.file.problems)) return false;
      state.policy = parsed.file.policy;
      return true;
    case 'template':
      if (parsed.file.value) state.templates.set(path, parsed.file.value);
      return parsed.file.value !== undefined;
    case 'run':
      if (parsed.file.value) state.runs.set(path, parsed.file.value);
      return parsed.file.value !== undefined;
    case 'queue': {
      // An unclear box only affects its item.
      if (parsed.file.problems.some(({severity, code}) => severity === 'error' && code !== 'UNCLEAR_DECISION'))
        return false;
      const items = new Map<string, PastItem>();
      for (const {id, task, decision, status, at} of parsed.file.items) {
        const item = {decision, status, at, field: (name: string) => fieldOf(task, name)};
        // Of duplicate ids, the less permissive item counts.
        if (id !== undefined && items.get(id)?.decision !== 'rejected' && !(items.has(id) && decision === 'approved'))
          items.set(id, item);
      }
      state.queues.set(path, items);
      return true;
    }
    case 'approval': {
      const {review, meta, action, problems} = parsed.file;
      state.pages.changed.set(path, {decision: review?.decision, edits: meta.edits, action});
      return !problems.some(({severity, code}) => severity === 'error' && code !== 'UNCLEAR_DECISION');
    }
    default:
      return true;
  }
}

export function findItem({queues}: HomeState, id: string): PastItem | undefined {
  for (const items of queues.values()) {
    const item = items.get(id);
    if (item) return item;
  }
  return undefined;
}

export function findPage({pages}: HomeState, id: string): PastPage | undefined {
  const at = (folder: string) => {
    const path = `approvals/${folder}/${id}.approval.md`;
    return pages.changed.has(path) ? pages.changed.get(path) : pages.below.get(path);
  };
  return at('approved') ?? at('pending') ?? at('rejected');
}

/** The template of an agent, or of one of a workflow instance (`coder@pr-123`). */
export function templateOf(state: HomeState, agent: string): TemplateValue | undefined {
  const {templates, runs} = state;
  const member = memberOf(agent);
  const run = member && runs.get(runPath(member.instance));
  if (run && member && Object.hasOwn(run.definitions, member.name)) {
    const base = run.definitions[member.name]?.template;
    return memberTemplate(run, member.name, base === undefined ? undefined : templateOf(state, base));
  }
  const name = agent.split('@')[0] ?? agent;
  return [...templates.values()].find(({id}) => id === name);
}

/** All templates, those of the agents of workflow instances included. */
export function allTemplates(state: HomeState): TemplateValue[] {
  const members = [...state.runs.values()].flatMap(run =>
    Object.keys(run.definitions).flatMap(name => templateOf(state, `${name}@${run.instance}`) ?? []),
  );
  return [...state.templates.values(), ...members];
}
