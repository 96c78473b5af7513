import {parse} from 'yaml';
import {
  appendMessage,
  insertMessage,
  parseSession,
  sessionText,
  setInMessage,
  setKeysInMessage,
  setSessionField,
  setSessionFields,
} from '../dist/index.js';
import {median, mediansInTurns, table, times} from './measure.mjs';
import {ratioAtMost, row} from './row.mjs';

const sentence = 'It says so in the log, and the log is right. ';
const message = role => ({timestamp: '2025-10-04T10:05:45.000Z', role, content: `${sentence.repeat(22)}\n`});

function sessionOf(count) {
  const lines = [
    'session_id: planner-001-abc123',
    'agent_id: planner-001',
    'status: active',
    "updated: '2025-10-04T10:05:00.000Z'",
    'messages:',
  ];
  for (let i = 0; i < count; i++)
    lines.push(
      `  - timestamp: '2025-10-04T10:05:45.000Z'`,
      `    role: ${i % 2 ? 'assistant' : 'user'}`,
      '    content: |',
      `      ${sentence.repeat(22)}`,
    );
  return `${lines.join('\n')}\n`;
}

/** Sessions of messages of 1 KB: one parse, one append, one field, against the raw library. */
export default function sessions() {
  const rows = [];
  const appends = [];
  for (const count of [100, 1_000, 10_000]) {
    const text = sessionOf(count);
    const session = parseSession(text);
    if (!session.items) throw new Error('the session was not cut');
    const {raw, whole} = mediansInTurns({raw: () => parse(text), whole: () => parseSession(text)}, {least: 3});
    // Read again after a person's edit at the end, the former at hand.
    const edited = `${text}  - role: user\n    content: more\n`;
    const again = median(() => parseSession(edited, session));
    // A conversation goes on: each append to the result of the last.
    let growing = session;
    const append = median(() => {
      growing = appendMessage(growing, message('assistant'));
    });
    const field = median(() => setSessionField(session, 'updated', '2025-10-04T10:06:00.000Z'));
    const mark = median(() => setInMessage(session, count - 1, ['note'], 'x'), {least: 5});
    const check = parseSession(sessionText(growing));
    if (check.messages.length !== growing.messages.length) throw new Error('the append is not what a full parse reads');
    appends.push(append);
    const many = `${count.toLocaleString('en-US')} messages`;
    row(`read a session of ${many}`, {ours: whole, baseline: {name: 'yaml.parse', value: raw}});
    if (count > 100)
      row(`append to ${many}`, {
        ours: append,
        baseline: {name: 'to 100', value: appends[0]},
        ...(count === 10_000 && {goal: ratioAtMost(2, 'issue 2')}),
      });
    rows.push([
      count,
      text.length / 1e6,
      raw,
      whole,
      times(whole, raw),
      again,
      append,
      times(append, appends[0]),
      times(append, raw),
      field,
      mark,
    ]);
  }
  table(
    'sessions, messages of 1 KB, ms',
    [
      'messages',
      'MB',
      'yaml.parse',
      'parseSession',
      'ratio',
      'read again',
      'append',
      'to 100',
      'to yaml.parse',
      'set field',
      'mark a call',
    ],
    rows,
  );
  turns();
}

const now = '2025-10-04T10:06:00.000Z';
const result = {
  timestamp: now,
  role: 'tool_result',
  tool_call_id: 'call_1',
  content: `{"text": "${sentence.repeat(22)}"}`,
};
const answer = {
  timestamp: now,
  role: 'assistant',
  content: `${sentence}\n\n${sentence}\n`,
  model: 'default',
  usage: {input_tokens: 1200, output_tokens: 80, cost_usd: 0.0125},
  tool_calls: [{id: 'call_2', type: 'function', function: {name: 'read_file', arguments: '{"path": "a.md"}'}}],
};

/** What one turn writes: a result in, an answer in, status and updated, and the mark of the call it makes. */
function turns() {
  const rows = [];
  for (const count of [1, 20, 400]) {
    const session = parseSession(sessionOf(count));
    // A message that came meanwhile stays below: the insert is in the middle.
    const queued = appendMessage(session, message('user'));
    const most = {most: 2_000};
    const edits = {
      result: () => insertMessage(session, count, result),
      answer: () => insertMessage(session, count, answer),
      middle: () => insertMessage(queued, count, answer),
      header: () => setSessionFields(session, {updated: now, status: 'sleeping'}),
    };
    const answered = edits.answer();
    const mark = () => setKeysInMessage(answered, count, ['tool_calls', 0], {started: now, run: 'run-1'});
    const all = () =>
      setSessionFields(insertMessage(insertMessage(session, count, result), count + 1, answer), {
        updated: now,
        status: 'sleeping',
      });
    const written = parseSession(sessionText(all()));
    if (written.messages.length !== count + 2 || written.header?.status !== 'sleeping')
      throw new Error('the turn is not what a full parse reads');
    rows.push([count, ...Object.values(edits).map(edit => median(edit, most)), median(mark, most), median(all, most)]);
  }
  table(
    'the edits of one turn, ms',
    ['messages', 'result in', 'answer in', 'answer in, one queued', 'status, updated', 'mark a call', 'turn'],
    rows,
  );
}
