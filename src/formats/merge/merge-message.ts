import {isMap} from '../common/values.ts';
import {editYaml} from '../yaml/yaml-edit.ts';
import {readYaml} from '../yaml/yaml-source.ts';
import {mergeLines} from './merge-lines.ts';
import {settleValues, setValues, type ValueChange, valueChanges} from './merge-values.ts';
import {callIdOf, type MessagePart} from './message-match.ts';

/** Apply the daemon's changes (`started`, `usage` …) to the person's message. `results`: calls with new results. */
export function mergeMessage(
  base: MessagePart,
  person: MessagePart,
  daemon: MessagePart,
  results: ReadonlySet<string>,
  said: (words: string) => void,
): string {
  if (person.text === base.text) return daemon.text;
  const {changes, calls} = changesOf(base, daemon, results);
  const isResult = person.value().role === 'tool_result';
  let text = setValues(
    person.text,
    settleValues(
      changes,
      person.value(),
      path => path[0] === 'tool_call_id' || (isResult && path[0] === 'content'),
      said,
    ),
    [0],
  );
  for (const {call, changes, needed} of calls) {
    const own = callsOf((readYaml(text).value as unknown[])[0]);
    const index = own.findIndex(other => callIdOf(other) === callIdOf(call));
    if (index !== -1) {
      const settled = settleValues(changes, own[index], path => path[0] === 'started', said);
      text = setValues(text, settled, [0, 'tool_calls', index]);
    } else if (needed) {
      said(`its call ${callIdOf(call)} was removed, but it was worked on meanwhile; it is back`);
      text = editYaml(text, {append: [0, 'tool_calls'], item: call});
    } else if (changes.length > 0) said(`its call ${callIdOf(call)} was removed, and the daemon had changed it`);
  }
  return withOtherLines(base, person, daemon, text, said);
}

interface CallChange {
  call: Record<string, unknown>;
  changes: ValueChange[];
  /** The call was started or has a result, so it must be present. */
  needed: boolean;
}

function changesOf(
  base: MessagePart,
  daemon: MessagePart,
  results: ReadonlySet<string>,
): {changes: ValueChange[]; calls: CallChange[]} {
  const {tool_calls: _, ...was} = base.value();
  const {tool_calls: __, ...now} = daemon.value();
  const old = callsOf(base.value());
  const calls = callsOf(daemon.value()).map(call => {
    const before = old.find(other => callIdOf(other) === callIdOf(call));
    const changes = valueChanges(before ?? {}, call);
    const needed = changes.some(({path}) => path[0] === 'started') || results.has(callIdOf(call)) || !before;
    return {call, changes, needed};
  });
  return {changes: valueChanges(was, now), calls};
}

function callsOf(message: unknown): Record<string, unknown>[] {
  const calls = isMap(message) ? message.tool_calls : undefined;
  return Array.isArray(calls) ? calls.filter(isMap) : [];
}

/** Comments of the later version were edited by hand: merge by lines if the values stay the same. */
function withOtherLines(
  base: MessagePart,
  person: MessagePart,
  daemon: MessagePart,
  text: string,
  said: (words: string) => void,
): string {
  const comments = (lines: string) =>
    [...lines.matchAll(/^\s*#.*$/gm)]
      .map(([line]) => line.trim())
      .sort()
      .join('\n');
  if (base.text === daemon.text || comments(base.text) === comments(daemon.text)) return text;
  const lines = mergeLines(base.text, person.text, daemon.text);
  const read = readYaml(lines.text);
  if (
    lines.conflicts.length === 0 &&
    read.problems.length === 0 &&
    valueChanges(readYaml(text).value, read.value).length === 0
  )
    return lines.text;
  said('comments in it were changed on both sides; yours are kept');
  return text;
}
