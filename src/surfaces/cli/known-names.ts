import {stemOf} from '../../formats/common/key.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import {parseSettings} from '../../formats/settings.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {listFolder, readHomeFile} from '../../home/read.ts';
import {listSessions} from '../../home/session-files.ts';
import {instanceAgentNames, listInstances} from '../actions/instances/instances.ts';
import type {NameOf} from './about.ts';

export interface KnownName {
  name: string;
  /** A short description, for shells that show one. */
  what?: string;
}

const QUEUE = 'tasks/approvals.task.md';

/** Names in a home, read cheaply without parsing files. */
export function knownNames(home: string, kind: Exclude<NameOf, 'file' | 'dir'>): KnownName[] {
  if (kind === 'agent') {
    const names = [...listFolder(nodeDisk(home), 'templates').map(stemOf), ...instanceAgentNames(home)];
    return [...new Set(names)].map(name => ({name, what: 'agent'}));
  }
  if (kind === 'target') {
    const instances = listInstances(home).map(({instance}) => ({name: `@${instance}`, what: 'workflow instance'}));
    return [...instances, ...knownNames(home, 'agent'), ...knownNames(home, 'session')];
  }
  if (kind === 'assignee') {
    const agents = knownNames(home, 'agent');
    return [
      ...agents,
      {name: 'human', what: 'a person'},
      ...people(home).map(name => ({name, what: 'a person'})),
      ...agents.map(({name}) => ({name: `new:${name}`, what: 'an agent made for it'})),
    ];
  }
  if (kind === 'session') return listSessions(home).map(({id}) => ({name: id, what: 'session'}));
  if (kind === 'task') return taskFiles(home).flatMap(path => itemsOf(home, path, /\[.\]|^/));
  if (kind === 'approval') return itemsOf(home, QUEUE, /\[[ _]\]/);
  const kinds = ['agent', 'task', 'approval', 'session'] as const;
  return kinds.flatMap(one => knownNames(home, one));
}

function people(home: string): readonly string[] {
  const read = readHomeFile(nodeDisk(home), 'agentdir.yaml');
  return (read && 'text' in read && parseSettings(read.text).value?.people) || [];
}

function taskFiles(home: string): string[] {
  const paths = listFolder(nodeDisk(home), 'tasks').filter(path => !path.startsWith('tasks/archive/'));
  return paths.filter(path => path !== QUEUE && path.endsWith('.task.md')).sort();
}

function itemsOf(home: string, path: string, box: RegExp): KnownName[] {
  const read = readHomeFile(nodeDisk(home), path);
  if (!read || !('text' in read)) return [];
  const named: KnownName[] = [];
  let item = '';
  for (const line of read.text.split('\n')) {
    if (/^\s*-\s/.test(line)) item = line;
    const id = /^\s+id:\s*([A-Za-z0-9][\w.-]*)\s*$/.exec(line)?.[1];
    if (id !== undefined && box.test(item)) named.push({name: id, what: titleOf(item)});
  }
  return named;
}

const MAX_TITLE = 60;

function titleOf(item: string): string {
  const words = item.replace(/^\s*-\s*(?:\[.\]|[x-](?=\s))?\s*/, '').replace(/^(?:(?:[A-D]|[@#]\S+)\s+)*/, '');
  const quoted = /^"((?:\\.|[^"\\])*)"/.exec(words)?.[1];
  return visibleLine(quoted?.replace(/\\(.)/g, '$1') ?? words).slice(0, MAX_TITLE);
}
