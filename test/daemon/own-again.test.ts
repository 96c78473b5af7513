import {readdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {parseSession} from '../../src/formats/session/session.ts';
import {fieldOf} from '../../src/formats/task/task.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {git, newHome, until} from '../cli/run.ts';
import {read, type Served, serve, settled} from './serve.ts';

const SESSION = 'sessions/s.session.yaml';
const TASKS = 'tasks/t.task.md';
/** Nobody is to answer: only what happens to the file is of interest. */
const LEAST = 'agent_id: planner-001\nstatus: paused\nmessages:\n  - role: user\n    content: one\n';
const message = (words: string) => `  - role: user\n    content: ${words}\n`;
const wordsOf = (text: string) => parseSession(text).messages.map(({content}) => content);
const save = (home: string, path: string, text: string) => writeFileSync(join(home, path), text);
const box = (title: string, state: string) => (text: string) =>
  text.replace(new RegExp(`\\[.\\](?= @away/planner "${title}")`), `[${state}]`);
const times = (text: string) => text.match(/completed:/g)?.length ?? 0;

/** What a daemon that is killed here has not written is for the next one; `between` does nothing where none is killed. */
const ways: Record<string, (home: string, daemon: Served) => {down: () => Promise<void>; up: () => Promise<Served>}> = {
  'beside one daemon': (_home, daemon) => ({down: async () => {}, up: async () => daemon}),
  'while none runs, the last one killed': (home, daemon) => ({down: () => daemon.kill(), up: () => serve(home)}),
};

describe.each(Object.entries(ways))('a person takes back what they did themselves, %s', (_name, way) => {
  /** Task `a` ticked, set back in the same buffer, and meanwhile `b` ticked at a shell: what the daemon wrote of that must last. */
  const setBack = async () => {
    const home = await newHome({[TASKS]: '- [ ] @away/planner "a"\n- [ ] @away/planner "b"\n'});
    const first = await serve(home);
    const made = await settled(home, TASKS, t => (t.match(/created:/g) ?? []).length === 2);
    save(home, TASKS, box('a', 'x')(made));
    const ticked = await settled(home, TASKS, t => times(t) === 1);
    const {down, up} = way(home, first);
    await down();
    save(home, TASKS, box('a', ' ')(ticked));
    const daemon = await up();
    const back = await settled(home, TASKS, t => times(t) === 0);
    save(home, TASKS, box('b', 'x')(back));
    await settled(home, TASKS, t => times(t) === 1);
    return {home, daemon, made, ticked};
  };
  const states = (text: string) =>
    parseTasks(text).tasks.map(task => `${task.title} ${task.state} ${fieldOf(task, 'completed') ? 'at' : ''}`);

  it('a box ticked once more makes a text that was there before, and counts', async () => {
    const {home, daemon, ticked} = await setBack();
    save(home, TASKS, ticked);
    const text = await settled(home, TASKS, t => times(t) === 2);
    expect(states(text)).toEqual(['a completed at', 'b completed at']);
    expect(await daemon.stop()).toBe(0);
  });

  it('also with something that they wrote beside it', async () => {
    const {home, daemon, ticked} = await setBack();
    const buffer = `Mind this.\n${box('a', ' ')(ticked)}`;
    save(home, TASKS, buffer);
    await settled(home, TASKS, t => t.startsWith('Mind this.') && times(t) === 1);
    save(home, TASKS, box('a', 'x')(buffer));
    const text = await settled(home, TASKS, t => times(t) === 2);
    expect(states(text)).toEqual(['a completed at', 'b completed at']);
    expect(text).toMatch(/^Mind this\.\n- /);
    expect(await daemon.stop()).toBe(0);
  });

  it('a tick set back in the buffer in which it was made', async () => {
    const home = await newHome({[TASKS]: '- [ ] @away/planner "a"\n'});
    const first = await serve(home);
    const made = await settled(home, TASKS, t => t.includes('created:'));
    save(home, TASKS, box('a', 'x')(made));
    await settled(home, TASKS, t => times(t) === 1);
    const {down, up} = way(home, first);
    await down();
    save(home, TASKS, made);
    const daemon = await up();
    await settled(home, TASKS, t => t === made);
    expect(await daemon.stop()).toBe(0);
  });
});

describe('a task file saved just as it was before the person saw what agents had done', () => {
  it('undoes nothing, and what a person had set since is told', async () => {
    const home = await newHome({[TASKS]: '- [ ] @away/planner "a"\n- [ ] @away/planner "b"\n'});
    const daemon = await serve(home);
    const made = await settled(home, TASKS, t => (t.match(/created:/g) ?? []).length === 2);
    save(home, TASKS, box('b', 'x')(made));
    const seen = await settled(home, TASKS, t => times(t) === 1);
    save(home, TASKS, box('a', 'x')(seen));
    const both = await settled(home, TASKS, t => times(t) === 2);
    save(home, TASKS, made);
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => text.includes('UNMERGED'),
    );
    await settled(home, TASKS, t => t === both);
    const [copy = ''] = readdirSync(join(home, 'conflicts/tasks'));
    expect(read(home, `conflicts/tasks/${copy}`)).toBe(made);
    expect(await daemon.stop()).toBe(0);
  });
});

describe.each(Object.entries(ways))('a message in other words, %s', (_name, way) => {
  const rephrased = async () => {
    const home = await newHome({[SESSION]: LEAST});
    const first = await serve(home);
    const buffer = await settled(home, SESSION, t => t.includes('timestamp:'));
    const {down, up} = way(home, first);
    await down();
    save(home, SESSION, buffer.replace('content: one', 'content: uno'));
    const daemon = await up();
    await settled(home, SESSION, t => t.includes('content: uno'));
    return {home, daemon, buffer};
  };

  it('is not undone by a buffer from before it that says something else', async () => {
    const {home, daemon, buffer} = await rephrased();
    save(home, SESSION, buffer + message('two'));
    const text = await settled(home, SESSION, t => (t.match(/timestamp:/g) ?? []).length === 2);
    expect(wordsOf(text)).toEqual(['uno', 'two']);
    expect(await daemon.stop()).toBe(0);
  });

  it('gives way to what a person says last', async () => {
    const {home, daemon, buffer} = await rephrased();
    save(home, SESSION, buffer.replace('content: one', 'content: eins'));
    await settled(home, SESSION, t => t.includes('content: eins'));
    // As it was at first: nothing else is in the buffer, so that is what they mean.
    save(home, SESSION, buffer);
    await settled(home, SESSION, t => t.includes('content: one'));
    expect(wordsOf(read(home, SESSION))).toEqual(['one']);
    expect(await git(home, 'status', '--porcelain')).toBe('');
    expect(await daemon.stop()).toBe(0);
  });
});
