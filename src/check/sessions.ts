import {type Problem, problem} from '../files/diagnostic.ts';
import {stemOf} from '../files/key.ts';
import {lineStarts} from '../files/lines.ts';
import {type Session, sessionText} from '../files/session.ts';
import {placeOf, readYaml} from '../files/yaml-source.ts';
import type {Home} from './home.ts';
import {agentHint, isAgent, type Names} from './names.ts';

/** Sessions of missing templates, doubled ids, and histories that a model would refuse. */
export function checkSessions(home: Home, names: Names): Problem[] {
  const problems: Problem[] = [];
  const seen = new Map<string, string>();
  for (const {path, file} of home.sessions) {
    // A segment holds older messages of another session file.
    if (path.startsWith('sessions/archive/') && /\.\d+$/.test(stemOf(path))) continue;
    if (!file.header) continue;
    const stem = stemOf(path);
    const id = file.header.session_id ?? stem;
    const say = placedIn(path, file);
    const other = seen.get(id);
    if (other)
      problems.push(
        say(
          'DUPLICATE_ID',
          ['session_id'],
          `expected each session id once, found "${id}" also in ${other}`,
          'rename one of the two files and its session_id',
        ),
      );
    seen.set(id, path);
    if (id !== stem)
      problems.push(
        say(
          'NAME_MISMATCH',
          ['session_id'],
          `expected the session_id "${stem}" as in the file name, got "${id}"`,
          `write "session_id: ${stem}", or rename the file to ${id}.session.yaml`,
        ),
      );
    const agent = file.header.agent_id;
    if (file.header.status !== 'completed' && !isAgent(agent, names)) {
      problems.push(
        say(
          'MISSING_TEMPLATE',
          ['agent_id'],
          `expected a template for "${agent}", found none`,
          agentHint(agent, names),
        ),
      );
    }
    problems.push(...checkHistory(file, say));
  }
  return problems;
}

type Say = (code: Problem['code'], at: readonly (string | number)[], message: string, hint: string) => Problem;

/** The whole text is read for a place only when there is something to say. */
function placedIn(path: string, session: Session): Say {
  return (code, at, message, hint) => {
    const source = readYaml(sessionText(session));
    return problem(code, placeOf(source, at, lineStarts(source.text)), message, hint, path);
  };
}

/** Each tool result answers one call of an earlier message. A call without a result is fine: it may be under way. */
function checkHistory(session: Session, say: Say): Problem[] {
  const problems: Problem[] = [];
  const open = new Set<string>();
  const answered = new Set<string>();
  for (const [index, message] of session.messages.entries()) {
    for (const [i, call] of (message.tool_calls ?? []).entries()) {
      const at = ['messages', index, 'tool_calls', i];
      if (open.has(call.id) || answered.has(call.id))
        problems.push(
          say(
            'DUPLICATE_CALL',
            [...at, 'id'],
            `expected each call id once, found "${call.id}" again`,
            'remove the copy, or give it another id',
          ),
        );
      open.add(call.id);
      if (!isJson(call.function.arguments))
        problems.push(
          say(
            'BAD_ARGUMENTS',
            [...at, 'function', 'arguments'],
            'expected JSON, found something else; the model is told so',
            'mend the JSON, or leave it',
          ),
        );
    }
    if (message.role !== 'tool_result' || message.tool_call_id === undefined) continue;
    const id = message.tool_call_id;
    const at = ['messages', index, 'tool_call_id'];
    if (answered.has(id))
      problems.push(
        say(
          'DUPLICATE_RESULT',
          at,
          `expected one result for the call "${id}", found a second`,
          'remove one of the two',
        ),
      );
    else if (!open.has(id) && !session.header?.segments?.length)
      problems.push(
        say(
          'STRAY_RESULT',
          at,
          `expected a call "${id}" in an earlier assistant message, found none`,
          'remove this message, or restore the call: git log -p',
        ),
      );
    answered.add(id);
    open.delete(id);
  }
  return problems;
}

function isJson(text: string): boolean {
  if (text === '') return true;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
