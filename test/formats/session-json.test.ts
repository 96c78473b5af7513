import {describe, expect, it} from 'vitest';
import {chatHistory} from '../../src/decide/history.ts';
import {mergeSessions} from '../../src/formats/merge/merge-session.ts';
import {parseSession, parseWhole, sessionText} from '../../src/formats/session/session.ts';
import {appendMessage, setInMessage, setKeysInCalls} from '../../src/formats/session/session-edit.ts';
import {invalid} from '../model/strict-chat.mjs';

const HEAD = 'agent_id: a\nmessages:\n';
const CALL = `  - role: assistant
    content: ""   # nothing to say
    tool_calls:
      - function:
          arguments: # as keys
            path: "memory/a.md"
            lines: [1, 2.0, null]
          name: read_file
        id: c1
        type: function
`;
const RESULT = `  - role: tool_result
    content:
      success: true
      content: |
        # A

        b
    tool_call_id: c1
metadata:
  created: "2025-10-04T10:00:00Z"
`;
const text = `${HEAD}  - role: user\n    content: Read a\n${CALL}${RESULT}`;

describe('contents and arguments written as YAML maps', () => {
  it('are read as the JSON they mean, by either parser', () => {
    for (const session of [parseSession(text), parseWhole(text)]) {
      expect(session.problems).toEqual([]);
      expect(session.messages[1]?.tool_calls?.[0]?.function.arguments).toBe(
        '{"path":"memory/a.md","lines":[1,2,null]}',
      );
      expect(session.messages[2]?.content).toBe('{"success":true,"content":"# A\\n\\nb\\n"}');
    }
  });

  it('stay as written when messages and marks are added', () => {
    const before = parseSession(text);
    const appended = sessionText(appendMessage(before, {role: 'user', content: 'And b?'}));
    expect(appended).toBe(text.replace('metadata:', '  - role: user\n    content: And b?\nmetadata:'));
    const marked = sessionText(setKeysInCalls(before, 1, [{item: 0, keys: {started: '2025-10-04T10:00:00.000Z'}}]));
    expect(marked.replace(/ +started: .*\n/, '')).toBe(text);
    const blanked = sessionText(setInMessage(before, 2, ['content'], '{}'));
    expect(blanked.startsWith(`${HEAD}  - role: user\n    content: Read a\n${CALL}`)).toBe(true);
  });

  it('stay as written in a merge', () => {
    const person = text.replace('Read a', 'Read it');
    const daemon = sessionText(appendMessage(parseSession(text), {role: 'assistant', content: 'done'}));
    expect(mergeSessions(text, person, daemon)).toEqual({text: daemon.replace('Read a', 'Read it'), conflicts: []});
  });

  it('are refused if aliases make them huge, without using the memory', () => {
    const big = `agent_id: a\nnote: &n ${'x'.repeat(100_000)}\nmessages:\n  - role: user\n    content: [${'*n,'.repeat(5000)}]\n`;
    expect(parseSession(big).problems).toMatchObject([{code: 'WRONG_TYPE', line: 5}]);
  });

  it('must not be numbers or truth values, which may be meant as text', () => {
    const wrong = `${HEAD}  - role: user\n    content: 42\n`;
    expect(parseSession(wrong).problems).toMatchObject([
      {code: 'WRONG_TYPE', message: 'messages[1].content: expected text, got the number 42'},
    ]);
  });
});

describe('a second result of a call', () => {
  const late = `${HEAD}  - role: user
    content: Look
  - role: assistant
    tool_calls: [{id: c1, type: function, function: {name: execute_command, arguments: {command: docker ps}}}]
  - role: tool_result
    tool_call_id: c1
    content: {status: PENDING_APPROVAL}
  - role: assistant
    content: It waits for you.
  - role: tool_result
    tool_call_id: c1
    content: "up \`\`\` 2 hours"
`;

  it('reaches the model as a message of its own, fenced, since servers accept only one result', () => {
    const messages = chatHistory('Be brief.', parseSession(late).messages);
    expect(invalid({model: 'm', stream: true, messages})).toBeUndefined();
    expect(messages.map(({role}) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant', 'user']);
    expect(messages[3]?.content).toBe('{"status":"PENDING_APPROVAL"}');
    expect(messages[5]?.content).toMatch(/^A later result of the call c1\..*\n````\nup ``` 2 hours\n````$/);
  });
});
