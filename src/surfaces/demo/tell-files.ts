import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fieldOf, type Task} from '../../formats/task/task.ts';
import {parseTasks} from '../../formats/task/task-parse.ts';
import {git} from '../../home/git/git.ts';
import {INBOX, TASKS} from './scenes.ts';
import type {StoryTask} from './teller.ts';

/** The record of what was sent. */
export function sentLine(home: string): string | undefined {
  return read(home, INBOX)
    .split('\n')
    .find(line => line.includes('"direction":"out"'));
}

/** The tasks of the story, each with its last note. */
export function taskTree(home: string): StoryTask[] {
  return parseTasks(read(home, TASKS)).tasks.map(task => ({
    id: fieldOf(task, 'id'),
    box: task.box ?? ' ',
    depth: depthOf(task),
    assignee: task.names[0] ?? '',
    title: task.title,
    note: task.notes.at(-1)?.text,
  }));
}

function depthOf(task: Task): number {
  return task.parent ? depthOf(task.parent) + 1 : 0;
}

/** The number of commits, and the stat of some. */
export async function whatGitHas(home: string, commits: readonly string[], width: number) {
  const stat = [`--stat=${width}`, '--stat-graph-width=12'];
  const some = [...new Set(commits)];
  const [count, log] = await Promise.all([
    git(home, ['rev-list', '--count', 'HEAD']),
    git(home, ['show', '--oneline', ...stat, '--no-color', '--no-decorate', ...some, '--']),
  ]);
  return {
    commits: Number(count.stdout),
    // " 1 file changed, 2 insertions(+)" after each is left out.
    log: log.stdout.split('\n').filter(line => line !== '' && !/^ \d+ files? changed/.test(line)),
  };
}

function read(home: string, path: string): string {
  try {
    return readFileSync(join(home, path), 'utf8');
  } catch {
    return '';
  }
}
