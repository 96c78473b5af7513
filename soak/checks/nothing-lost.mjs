import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {fieldOf} from '../../dist/formats/task/task.js';
import {violate} from '../ledger.mjs';

/** 1 and 2: every line a person wrote is there, once and byte for byte; or whole in conflicts/. */
export function nothingLost({ledger}, state) {
  const lines = new Map();
  const linesOf = path => {
    if (!lines.has(path)) lines.set(path, existsSync(join(state.home, path)) ? state.text(path).split('\n') : []);
    return lines.get(path);
  };
  for (const {path, line, what} of ledger.lines) {
    const times = linesOf(path).filter(each => each === line).length;
    if (times === 1 || (times === 0 && state.conflicts.includes(line))) continue;
    violate(ledger, 2, `${what} in ${path} is there ${times} times: ${line}`);
  }
  messages(ledger, state);
  tasks(ledger, state);
}

function messages(ledger, {sessions, conflicts}) {
  const byPath = new Map(sessions.map(session => [session.path, session]));
  for (const {mark, first, path} of ledger.messages) {
    const all = byPath.get(path)?.messages ?? [];
    const own = all.filter(({role, content}) => role === 'user' && content?.startsWith(`${mark} `));
    const right = own.filter(({content}) => content.startsWith(`${first} `));
    if (own.length > 1) violate(ledger, 1, `${mark} is in ${path} ${own.length} times`);
    else if (right.length === 0 && !conflicts.includes(first))
      violate(ledger, 1, `"${first}" is not in ${path}`, own[0]?.content ?? '');
  }
}

function tasks(ledger, {taskFiles, conflicts}) {
  const byPath = new Map(taskFiles.map(({path, file}) => [path, file]));
  for (const {mark, path, done} of ledger.tasks) {
    const own = (byPath.get(path)?.tasks ?? []).filter(({title}) => title.startsWith(`${mark} `));
    if (own.length > 1) violate(ledger, 1, `task ${mark} is in ${path} ${own.length} times`);
    if (conflicts.includes(mark)) continue;
    if (own.length === 0) violate(ledger, 1, `task ${mark} is not in ${path}`);
    else if (done && own[0].state !== 'completed') violate(ledger, 1, `task ${mark} was ticked and is ${own[0].state}`);
    else if (own[0].state === 'completed' && !fieldOf(own[0], 'completed'))
      violate(ledger, 8, `task ${mark} is completed and has no time`);
    if (own[0] && fieldOf(own[0], 'id') !== `t-${mark}`) violate(ledger, 1, `task ${mark} has another id`);
  }
}
