import {expect, it} from 'vitest';
import {type AgentTaskEdit, Tasks} from '../../src/agents/state/task-news.ts';
import {settleEdits} from '../../src/agents/tasks/task-edits.ts';
import {fieldOf} from '../../src/formats/task/task.ts';
import {updateTask} from '../../src/formats/task/task-edit.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {systemClock} from '../../src/home/disk/clock.ts';
import type {HomeFiles} from '../../src/loop/home-files.ts';

const path = 'tasks/one.task.md';
const lines = (n: number) => Array.from({length: n}, (_, i) => `- [ ] "t${i}"\n  id: t${i}`).join('\n');

it('what many agents change in one file at a time is one save, and each has its own step in the journal', () => {
  const over: string[] = [];
  const edit = (agent: string, id: string): AgentTaskEdit => ({
    agent,
    make: file => {
      const task = file.tasks.find(each => fieldOf(each, 'id') === id);
      if (!task) return {success: false, code: 'FAILED', error: 'gone'};
      return {text: updateTask(file, task, {box: 'x'}), words: `done ${id}`, tasks: [id]};
    },
    finished: failed => over.push(`${agent} ${failed?.code ?? 'ok'}`),
  });
  const edits = [edit('a', 't0'), edit('b', 't1'), edit('b', 't2'), edit('c', 'no'), edit('a', 't3')];
  const tasks = new Tasks();
  tasks.edits.set(path, edits);
  const files = {
    disk: {clock: systemClock},
    known: new Map(),
    looks: {lookAgain: new Set()},
    queue: {add: () => {}},
  } as unknown as HomeFiles;
  const completed = settleEdits({tasks, files}, path, parseTasks(lines(5)));
  const steps = [...(completed?.before ?? []), ...(completed ? [completed] : [])];
  expect(steps.map(({agent, tasks, text}) => [agent, tasks, text.match(/\[x\]/g)?.length])).toEqual([
    ['a', ['t0'], 1],
    ['b', ['t1', 't2'], 3],
    ['a', ['t3'], 4],
  ]);
  expect(over).toEqual(['c FAILED']);
  completed?.written?.();
  expect(over).toEqual(['c FAILED', 'a ok', 'b ok', 'b ok', 'a ok']);
  expect(tasks.edits.size).toBe(0);
});
