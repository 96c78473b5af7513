import {minimatch} from 'minimatch';
import {isQueue} from '../check/parse-file.ts';
import {nearest} from '../formats/common/diagnostic.ts';

const MOST_NAMED = 12;

/** Longer patterns, and patterns with many stars, take long to match. */
const MOST_GLOB = 200;
const MOST_STARS = 6;

export type FoundFiles = {files: string[]; table: 'tasks' | 'approvals'} | {problem: string; hint: string};

/** Find the task files for a name or glob: `tasks/x.task.md`, `x.task.md`, `tasks/*.task.md`. */
export function findTaskFiles(wanted: string, known: readonly string[]): FoundFiles {
  const files = known.filter(path => !isQueue(path));
  const name = wanted.replace(/^\.\//, '');
  const path = wholePath(name);
  if (isQueue(path) && known.includes(path)) return {files: [path], table: 'approvals'};
  if (/[*?]/.test(path)) {
    if (path.length > MOST_GLOB || path.split('*').length > MOST_STARS + 1)
      return {problem: 'the pattern is too long', hint: 'use SELECT … FROM tasks WHERE file LIKE …'};
    const found = files.filter(file => minimatch(file, path, {dot: true, nobrace: true, noext: true}));
    if (found.length > 0) return {files: found, table: 'tasks'};
    return {problem: `no task file is like ${path}`, hint: namesOf(files)};
  }
  if (files.includes(path)) return {files: [path], table: 'tasks'};
  const near = nearest(path, files);
  return {problem: `there is no task file ${path}`, hint: near ? `did you mean ${near}?` : namesOf(files)};
}

function wholePath(name: string): string {
  const path = name.startsWith('tasks/') || name.startsWith('**/') ? name : `tasks/${name}`;
  return path.endsWith('.md') ? path : `${path}.task.md`;
}

function namesOf(files: readonly string[]): string {
  if (files.length === 0) return 'there are no task files yet';
  const more = files.length > MOST_NAMED ? `, and ${files.length - MOST_NAMED} more` : '';
  return `there are ${files.slice(0, MOST_NAMED).join(', ')}${more}`;
}
