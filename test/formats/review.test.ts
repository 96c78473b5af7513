import {describe, expect, it} from 'vitest';
import {parseApproval} from '../../src/formats/approval/approval.ts';
import {setReview} from '../../src/formats/approval/approval-edit.ts';
import {UserError} from '../../src/formats/common/errors.ts';
import {parseSession, parseWhole, sessionText} from '../../src/formats/session/session.ts';
import {appendMessage, insertMessage, setInMessage, setSessionField} from '../../src/formats/session/session-edit.ts';
import type {Message} from '../../src/formats/session/session-schema.ts';
import {fieldOf, type Task} from '../../src/formats/task/task.ts';
import {addTask, appendNote, updateTask} from '../../src/formats/task/task-edit.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {editYaml} from '../../src/formats/yaml/yaml-edit.ts';
import {readYaml} from '../../src/formats/yaml/yaml-source.ts';
import {cpu} from '../cpu.ts';

// What readers of the first version found. Each was wrong once.

describe('tasks', () => {
  it('code at column 0 inside a fence does not end the task', () => {
    const file = parseTasks('- [ ] "T"\n  ```sh\necho hi\n  ```\n  id: t1\n  prompt: do it\n');
    expect(fieldOf(file.tasks[0] as Task, 'id')).toBe('t1');
    const after = parseTasks(addTask(file, {title: 'child'}, file.tasks[0]));
    expect(after.tasks.map(task => [task.title, task.parent?.title])).toEqual([
      ['T', undefined],
      ['child', 'T'],
    ]);
  });

  it('a comment in a task does not end it either', () => {
    expect(fieldOf(parseTasks('- [ ] "T"\n  <!--\nx\n-->\n  id: t1\n').tasks[0] as Task, 'id')).toBe('t1');
  });

  it('a fence may be the content of a list item, and ends with it', () => {
    expect(parseTasks('- ```\n  - [ ] no\n  ```\n- [ ] y\n')).toMatchObject({tasks: [{title: 'y'}], problems: []});
    expect(parseTasks('- ``` open\n  - [ ] no\n- [ ] y\n')).toMatchObject({tasks: [{title: 'y'}], problems: []});
  });

  it('a rule at the top hides nothing', () => {
    expect(parseTasks('---\n- [ ] @nobody "first"\n\n---\n- [ ] "b"\n').tasks).toHaveLength(2);
  });

  it('a note goes below its notes, wherever those stand', () => {
    const file = parseTasks('- [ ] t\n      notes:\n  k: v\n');
    const after = parseTasks(
      appendNote(file, file.tasks[0] as Task, {time: '2025-10-04T10:00:00.000Z', who: 'a', text: 'x'}),
    );
    expect(after.tasks[0]?.notes).toMatchObject([{text: 'x', who: 'a'}]);
  });

  it('a new task never takes over what follows', () => {
    const file = parseTasks('## TODO\n  ## Other\n  - [ ] A\n');
    expect(() => addTask(file, {title: 'new'})).toThrow(UserError);
  });
});

describe('approvals', () => {
  const page = (review: string) => `# Approval Request: a-1\n\n## Review\n\n${review}`;

  it('a rejection below an inline code line is seen', () => {
    const file = parseApproval(page('**Decision:** APPROVED\n```x```\n**Decision:** REJECTED\n'));
    expect(file.review?.decision).toBeUndefined();
    expect(file.problems[0]?.code).toBe('UNCLEAR_DECISION');
  });

  it.each(['decision: APPROVED', '**Decision**: APPROVED', '**Decision:** <!-- APPROVED | REJECTED -->\nAPPROVED'])(
    '%j approves',
    lines => {
      expect(parseApproval(page(`${lines}\n`))).toMatchObject({review: {decision: 'approved'}, problems: []});
    },
  );

  it.each([
    '**Decision: APPROVED**',
    '### Decision: APPROVED',
    '- APPROVED',
    '> APPROVED',
    '- [x] Decision: APPROVED',
    '| **Decision:** APPROVED |',
    '```\n**Decision:** APPROVED\n```',
    'Decision : APPROVED',
  ])('%j is unclear, not a silent wait', lines => {
    const file = parseApproval(page(`${lines}\n`));
    expect(file.problems.map(p => p.code)).toContain('UNCLEAR_DECISION');
    expect(file.review?.decision).toBeUndefined();
  });

  it.each([
    ['blue', 'blue'],
    ['`blue` or so', '`blue` or so'],
    ['Run this:\n\n```sh\nnpm ci\n```\n\nand never npm install.', undefined],
    ['a\n**Bold:** b\nc\n**Not this**: d', undefined],
    ['\n\nbelow <!-- it --> goes\n  on', 'below <!-- it --> goes\n  on'],
    ['Use A.\nReason: it is cheaper', undefined],
    ['what to write:\n```\n**Decision:** REJECTED\n```\nand so on', undefined],
    [' <!-- nothing -->', null],
  ])('an answer is what was written: %j', (answer, read) => {
    const text = page(`**Answer:** ${answer}\n\n**Decision:** APPROVED\n\n**Notes:** n\n`);
    const review = {decision: 'approved', notes: 'n', answer: read === null ? undefined : (read ?? answer)};
    expect(parseApproval(text)).toMatchObject({review, problems: []});
    expect(parseApproval(text.replaceAll('\n', '\r\n')).review).toMatchObject(review);
    if (read === null) return;
    const open = page('**Answer:**\n\n**Decision:**\n\n**Notes:** n\n');
    expect(parseApproval(setReview(open, {answer, decision: 'APPROVED'})).review).toMatchObject(review);
  });

  it('two answers, or a fence that swallows the decision, are unclear', () => {
    for (const lines of [
      '**Answer:** a\n**Answer:** b\n**Decision:** APPROVED',
      '**Answer:**\n```sh\nls\n\n**Decision:** APPROVED',
    ]) {
      const file = parseApproval(page(`${lines}\n`));
      expect(file.problems.map(p => p.code)).toEqual(['UNCLEAR_DECISION']);
      expect(file.review?.decision).toBeUndefined();
    }
    expect(() => setReview(page('**Answer:**\n'), {answer: 'a\n**Decision:** REJECTED'})).toThrow(UserError);
  });

  it('setReview replaces what was there, or refuses', () => {
    expect(parseApproval(setReview(page('**Decision:**\nAPPROVED\n'), {decision: 'REJECTED'})).review?.decision).toBe(
      'rejected',
    );
    expect(
      parseApproval(setReview(page('**Decision:**\n\n**Notes:** a\nb\n'), {notes: 'c', by: 'x <!-- y'})).review,
    ).toMatchObject({notes: 'c', by: 'x <! -- y'});
    expect(() => setReview(page('**Decision:**\n```\nopen'), {by: 'me', reason: 'x'})).toThrow(UserError);
    expect(() => setReview('# Approval Request: a-1\n', {decision: 'REJECTED'})).toThrow(UserError);
  });

  it('two commands in a request are a problem', () => {
    const text =
      '# Approval Request: a-1\n\n## Proposed Action\n\n**Command:** `ls`\n\n**Command:** `rm x`\n\n## Review\n';
    expect(parseApproval(text).problems.map(p => p.code)).toEqual(['DUPLICATE_SECTION']);
  });
});

describe('YAML edits', () => {
  it('keep a comment between key and value', () => {
    const session = parseSession('agent_id: p\nstatus: # why paused\n  active\nmessages: []\n');
    expect(sessionText(setSessionField(session, 'status', 'paused'))).toBe(
      'agent_id: p\nstatus: # why paused\n  paused\nmessages: []\n',
    );
  });

  it.each([
    ['a:\n  b: 1\n  # mine\n  c: 2\n', {set: ['a'], to: {b: 1, c: 3}}],
    ['a: {x: 1,\n # cy\n y: 2}\n', {remove: ['a', 'x']}],
    ['- a: 1 # one\n  # two\n  b: 2\n', {remove: [0, 'a']}],
    ['a: |  # note\n  x\n', {set: ['a'], to: 'y\nz\n'}],
  ])('rather refuse than lose a comment: %j', (text, edit) => {
    let edited = text;
    try {
      edited = editYaml(text, edit);
    } catch (error) {
      expect(error).toBeInstanceOf(UserError);
    }
    for (const comment of text.match(/# [a-z ]+/g) ?? [])
      if (!('remove' in edit && text.startsWith('- a: 1 # one') && comment.startsWith('# one')))
        expect(edited).toContain(comment.trim());
  });

  it('see the loss of a value that JSON does not know', () => {
    expect(editYaml('a: .inf\nb: 1\n', {set: ['b'], to: 2})).toBe('a: .inf\nb: 2\n');
    expect(readYaml(editYaml('a: .inf\nb: 1\n', {remove: ['b']})).value).toEqual({a: Number.POSITIVE_INFINITY});
  });

  it('never change an aliased message too', () => {
    const session = parseSession(
      'agent_id: p\nmessages:\n- &m\n  role: user\n  content: hello\n- role: user\n  content: x\n- *m\n',
    );
    expect(session.problems).toEqual([]);
    expect(() => setInMessage(session, 0, ['content'], 'changed')).toThrow(UserError);
  });
});

describe('sessions', () => {
  it('a directive holds for every message', () => {
    const text = '%YAML 1.1\n---\nagent_id: p\nmessages:\n- role: user\n  content: yes\n';
    expect(parseSession(text).problems).toEqual(parseWhole(text).problems);
  });

  it('one with errors is not edited, and none is made', () => {
    const broken = parseSession('agent_id: p\nstatus: actve\nmessages:\n  - role: user\n    content: x\n');
    const good = parseSession('agent_id: p\nmessages:\n  - role: user\n    content: x\n');
    const message: Message = {role: 'user', content: 'y'};
    for (const edit of [
      () => appendMessage(broken, message),
      () => insertMessage(broken, 0, message),
      () => setSessionField(broken, 'status', 'paused'),
      () => setInMessage(broken, 0, ['x'], 1),
    ])
      expect(edit).toThrow(UserError);
    expect(() => appendMessage(good, {role: 'usr'} as unknown as Message)).toThrow(UserError);
    expect(() => setSessionField(good, 'status', 'zzz' as 'paused')).toThrow(UserError);
  });

  it('a message goes first without touching the others', () => {
    const text = 'agent_id: p\nmessages:\n  # first\n  - role: user   # mine\n    content: "x"\n';
    expect(sessionText(insertMessage(parseSession(text), 0, {role: 'system', content: 'be brief'}))).toBe(
      'agent_id: p\nmessages:\n  # first\n  - role: system\n    content: be brief\n  - role: user   # mine\n    content: "x"\n',
    );
  });
});

describe('time', () => {
  it('long runs of one character are read once', () => {
    const n = 200_000;
    const start = cpu();
    parseTasks(`## ${'#'.repeat(n)}x\n`);
    parseApproval(`# ${' '.repeat(n)}\rx\n## Review\nDecision${' '.repeat(n)}x\n${' '.repeat(n)}\u2028x\n`);
    parseSession(`agent_id: p\nmessages:\n  - role: user\n    content: "${' '.repeat(n)}x"\n`);
    // Quadratic reading took 90 s for each of these.
    expect(cpu() - start).toBeLessThan(20_000);
  });
});

describe('a second reader', () => {
  it('a value that only looks like a block is none', () => {
    const file = parseTasks('- [ ] "a"\n  id: a\n    - [ ] "kid"\n');
    const after = parseTasks(updateTask(file, file.tasks[0] as Task, {fields: {result: '|\u00a0'}}));
    expect(after.tasks.map(task => task.title)).toEqual(['a', 'kid']);
    expect(fieldOf(after.tasks[0] as Task, 'result')).toBe('|\u00a0');
  });

  it('a reply goes where it belongs beside values that JSON does not know', () => {
    const session = parseSession(
      'agent_id: p\nmessages:\n- role: user\n  content: a\n  x: .inf\n- role: user\n  content: b\n',
    );
    expect(insertMessage(session, 1, {role: 'assistant', content: 'reply'}).messages.map(m => m.content)).toEqual([
      'a',
      'reply',
      'b',
    ]);
  });

  it('removing a key below the messages changes no message', () => {
    const session = parseSession(
      'agent_id: p\nmessages:\n- role: user\n  content: |\n    f\nmodel: m\n      # deeper\nsession_id: s1\n',
    );
    try {
      const after = setSessionField(session, 'model', undefined);
      expect(after.messages).toEqual(session.messages);
      expect(parseWhole(sessionText(after)).messages).toEqual(session.messages);
    } catch (error) {
      expect(error).toBeInstanceOf(UserError);
    }
  });

  it('a field and a note at once, or a refusal; never a lost note, never a child in code', () => {
    const note = {time: '2025-10-04T10:00:00.000Z', who: 'a', text: 'x'};
    const odd = parseTasks('- [ ] "a"\n  - 2020-01-01T00:00:00.000Z @a: hi\n   - [ ] "t"\n');
    const noted = parseTasks(updateTask(odd, odd.tasks[0] as Task, {fields: {id: 'x'}, note})).tasks[0] as Task;
    expect([fieldOf(noted, 'id'), noted.notes.at(-1)?.text]).toEqual(['x', 'x']);
    const fence = parseTasks('- [ ] "a"\n - ```\n   code\n');
    expect(() => addTask(fence, {title: 'kid'}, fence.tasks[0])).toThrow(UserError);
  });

  it('notes may have code in them', () => {
    const text = setReview('# Approval Request: a-1\n\n## Review\n\n**Notes:**\n', {notes: '`b`'});
    expect(text).toContain('**Notes:** `b`');
  });

  it('many labels are read in a moment', () => {
    const start = cpu();
    parseApproval(
      `# Approval Request: b\n## Proposed Action\n${Array.from({length: 100_000}, (_, i) => `**l${'abcdefghij'[i % 10]}:**\n`).join('')}## Review\n${'Decision: maybe\n'.repeat(100_000)}`,
    );
    expect(cpu() - start).toBeLessThan(20_000);
  });
});
