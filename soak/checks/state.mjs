import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {readApprovalItems} from '../../dist/formats/approval/approval-item.js';
import {parseSession} from '../../dist/formats/session/session.js';
import {parseTasks} from '../../dist/formats/task/task-parse.js';

const list = (home, folder) =>
  existsSync(join(home, folder))
    ? readdirSync(join(home, folder), {recursive: true, withFileTypes: true})
        .filter(entry => entry.isFile())
        .map(entry => join(entry.parentPath, entry.name).slice(home.length + 1))
    : [];
const isLeftOver = path => /(?:^|\/)(?:\.|#)|~$|\.tmp$/.test(path);

/** All that a home at rest says, read as anybody would read it: sessions with their segments, tasks, approvals, conflicts. */
export function readState(home, kept = '') {
  const text = path => readFileSync(join(home, path), 'utf8');
  const sessions = list(home, 'sessions')
    .filter(path => path.endsWith('.session.yaml') && !isLeftOver(path) && !path.startsWith('sessions/archive/'))
    .map(path => {
      const {header, messages, problems} = parseSession(text(path));
      const older = (header?.segments ?? []).flatMap(segment => parseSession(text(segment)).messages);
      return {path, header, messages: [...older, ...messages], problems, id: path.split('/').at(-1).split('.')[0]};
    });
  const taskFiles = list(home, 'tasks')
    .filter(path => path.endsWith('.task.md') && !isLeftOver(path))
    .map(path => ({path, file: parseTasks(text(path))}));
  const isQueue = path => /^tasks\/(?:archive\/)?approvals/.test(path);
  return {
    home,
    text,
    sessions,
    taskFiles: taskFiles.filter(({path}) => !isQueue(path)),
    items: taskFiles.filter(({path}) => isQueue(path)).flatMap(({file}) => readApprovalItems(file).items),
    conflicts: kept + list(home, 'conflicts').map(text).join('\n'),
    workspaces: list(home, 'workspaces'),
  };
}

/** Each call of a session with its arguments, its result and where it stands. */
export function* callsOf({messages}) {
  const results = new Map(
    messages.filter(({role}) => role === 'tool_result').map(message => [message.tool_call_id, message.content]),
  );
  for (const {tool_calls} of messages)
    for (const call of tool_calls ?? []) {
      const content = results.get(call.id);
      yield {
        ...call,
        name: call.function.name,
        args: parsed(call.function.arguments),
        result: content && parsed(content),
      };
    }
}

export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
