import {parse} from 'yaml';
import {appendMessage, parseSession, sessionText, setInMessage, setSessionField} from '../dist/index.js';
import {median, table, times} from './measure.mjs';

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
    const raw = median(() => parse(text), {least: 3});
    const whole = median(() => parseSession(text), {least: 3});
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
}
