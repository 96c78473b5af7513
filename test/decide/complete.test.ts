import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {completeSession, laterTime} from '../../src/decide/session.ts';
import {completeTasks} from '../../src/decide/task.ts';
import {parseSession, sessionText} from '../../src/formats/session/session.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';

const now = '2026-11-16T10:00:00.000Z';
const template = {type: 'planner', model: undefined, system_prompt: 'You plan.\n\n## How\n- well\n'};
const session = (text: string) => {
  const done = completeSession(parseSession(text), {id: 's1', template, now});
  return done && {text: sessionText(done.session), words: done.words};
};
let count = 0;
const tasks = (text: string) =>
  completeTasks(parseTasks(text), {
    now,
    newId: () => `task-${++count}`,
    news: () => undefined,
    isAgent: () => false,
    ownerOf: () => undefined,
    partsOf: () => [],
    unclear: new Set(),
  });

describe('completeSession', () => {
  it('fills in what is missing and leaves the rest as it is, in any style', () => {
    for (const text of [
      'agent_id: a\nmessages:\n- role: user\n  content: x\n',
      '# mine\nagent_id: a   # me\r\nunknown: {b: 1}\r\nmessages:\r\n  - {role: user, content: x}\r\n',
      'messages:\n  - role: user\n    content: |\n      several\n\n      lines\nagent_id: a\nstatus: paused\n',
      '{agent_id: a, messages: [{role: user, content: x}]}\n',
      'agent_id: a\nmessages: []\n',
      'agent_id: a\n',
    ]) {
      const done = session(text);
      const {header, messages, problems} = parseSession(done?.text ?? '');
      expect(problems, done?.text).toEqual([]);
      expect(header).toMatchObject({
        session_id: 's1',
        agent_type: 'planner',
        model: 'default',
        system_prompt: template.system_prompt,
        created: now,
        updated: now,
      });
      expect(header?.status).toBe(text.includes('paused') ? 'paused' : text.includes('role') ? 'active' : 'sleeping');
      for (const message of messages) expect(message).toMatchObject({from: 'human', timestamp: now});
      expect(session(done?.text ?? '')).toBeUndefined();
    }
  });

  it('adds nothing to a complete session, and only what is new to one that was continued', () => {
    const full = session('agent_id: a\nmessages:\n  - role: user\n    content: x\n')?.text ?? '';
    const again = session(`${full}  - role: user\n    content: y\n`);
    expect(again?.words).toBe('filled in message 2');
    expect(parseSession(again?.text ?? '').header?.updated).toBe('2026-11-16T10:00:00.001Z');
  });

  it('never sets `updated` back, whatever the clock does', () => {
    expect(laterTime(now, undefined)).toBe(now);
    expect(laterTime(now, '2026-11-16T12:00:00.000Z')).toBe('2026-11-16T12:00:00.001Z');
    expect(laterTime(now, '2026-11-16T08:00:00.000Z')).toBe(now);
  });
});

describe('completeTasks', () => {
  it('follows the box', () => {
    expect(tasks('- [ ] mine\n')).toBeUndefined();
    expect(tasks('- [ ] @a "x"\n')?.text).toMatch(/^- \[ \] @a "x"\n {2}id: task-\d+\n {2}created: 2026-\S+\n$/);
    expect(tasks('- [/] mine\n')?.text).toBe(`- [/] mine\n  started: ${now}\n`);
    expect(tasks('- [x] mine\n  started: 2020-01-01T00:00:00Z\n')?.text).toBe(
      `- [x] mine\n  started: 2020-01-01T00:00:00Z\n  completed: ${now}\n`,
    );
    expect(tasks('- [ ] mine\n  assigned: a\n  started: b\n  completed: c\n  keep: d\n')?.text).toBe(
      '- [ ] mine\n  keep: d\n  attempt: 2\n',
    );
    expect(tasks('- [/] mine\n  started: b\n  completed: c\n')?.text).toBe('- [/] mine\n  started: b\n');
    expect(tasks('- [ ] mine\n  assigned: a\n')).toBeUndefined();
    expect(tasks('- [-] mine\n')).toBeUndefined();
    expect(tasks('- [!] mine\n')).toBeUndefined();
  });

  it('is done after once, keeps every line that is not a time set back, and makes no errors', () => {
    const line = fc.constantFrom(
      '- [ ] @a "x"',
      '- [x] y',
      '  - [/] @b #t z',
      '  started: 1',
      '  completed: 2',
      '  note of mine',
      '',
      '## TODO',
      '- bare',
      '    - [x] deep',
      '  description: |',
      '    - [ ] text',
      '  notes:',
      '  - 2026-01-01T00:00:00Z @a: n',
    );
    fc.assert(
      fc.property(fc.array(line, {maxLength: 20}), lines => {
        const text = `${lines.join('\n')}\n`;
        if (parseTasks(text).problems.length > 0) return;
        let done: ReturnType<typeof tasks>;
        try {
          done = tasks(text);
        } catch (error) {
          // A layout that leaves no place for it is refused.
          expect((error as Error).name).toMatch(/UserError|RangeError/);
          return;
        }
        if (!done) return;
        expect(parseTasks(done.text).problems.filter(p => p.severity === 'error')).toEqual([]);
        expect(parseTasks(done.text).tasks.map(t => [t.title, t.box])).toEqual(
          parseTasks(text).tasks.map(t => [t.title, t.box]),
        );
        expect(tasks(done.text)).toBeUndefined();
      }),
      {numRuns: 300},
    );
  });
});
