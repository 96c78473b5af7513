import {isDeepStrictEqual} from 'node:util';
import {hasErrors, type Problem} from '../common/diagnostic.ts';
import {UserError} from '../common/errors.ts';
import {isMap} from '../common/values.ts';
import type {CutSessionText} from '../session/session.ts';
import {headerSchema} from '../session/session-schema.ts';
import {validateValue} from '../yaml/validate.ts';
import {readYaml} from '../yaml/yaml-source.ts';
import {mergeLines} from './merge-lines.ts';
import {settleValues, setValues, type ValueChange, valueChanges} from './merge-values.ts';

/** Header keys of a session. Throws on errors. */
function headerOf(head: string, foot: string): Record<string, unknown> {
  const source = readYaml(head + foot);
  const value = source.value;
  if (source.problems.length > 0 || source.linked || !isMap(value)) throw new UserError('the header has errors');
  const {messages: _, ...header} = value;
  throwOnErrors(validateValue(headerSchema, header, () => ({line: 1, column: 1}), '', 'nothing').problems);
  return header;
}

export function throwOnErrors(problems: readonly Problem[]): void {
  if (hasErrors(problems)) throw new UserError('a part has errors');
}

export function mergeHeads(
  b: CutSessionText,
  p: CutSessionText,
  d: CutSessionText,
  conflicts: string[],
): {head: string; foot: string} {
  const {head, foot} = p;
  const [was, own, now] = [headerOf(b.head, b.foot), headerOf(head, foot), headerOf(d.head, d.foot)];
  if (head === b.head && foot === b.foot) return {head: d.head, foot: d.foot};
  const changes = valueChanges(was, now);
  const settled = settleValues(
    changes.filter(({path}) => path[0] !== 'updated' && !(path[0] === 'status' && own.status !== was.status)),
    own,
    () => false,
    words => conflicts.push(words),
  );
  // `updated` names the base of an editor's buffer: the merged text is no older than the daemon's.
  if (own.updated !== now.updated && now.updated !== undefined)
    settled.push({path: ['updated'], was: own.updated, now: now.updated});
  const merged = setHeader(head, foot, settled);
  headerOf(merged.head, merged.foot);
  if (setHeader(b.head, b.foot, changes).head === d.head && b.foot === d.foot) return merged;
  return otherLines(b, p, d, merged, settled, conflicts);
}

/** Comments, or keys below the messages, were changed by hand too: merge line by line. */
function otherLines(
  b: CutSessionText,
  p: CutSessionText,
  d: CutSessionText,
  merged: {head: string; foot: string},
  settled: readonly ValueChange[],
  conflicts: string[],
): {head: string; foot: string} {
  const head = mergeLines(b.head, p.head, d.head);
  const foot = mergeLines(b.foot, p.foot, d.foot);
  const wanted = headerOf(merged.head, merged.foot);
  if (head.conflicts.length + foot.conflicts.length === 0) {
    const together = setHeader(head.text, foot.text, settled);
    if (isDeepStrictEqual(headerOf(together.head, together.foot), wanted)) return together;
  }
  if (sorted(b.head + b.foot) !== sorted(d.head + d.foot) && commentsOf(b) !== commentsOf(d))
    conflicts.push('comments above the messages were changed on both sides; yours are kept');
  return merged;
}

function sorted(text: string): string {
  return text.split(/\r?\n/).sort().join('\n');
}

function commentsOf({head, foot}: CutSessionText): string {
  return sorted(
    (head + foot)
      .split(/\r?\n/)
      .filter(line => line.trim().startsWith('#'))
      .join('\n'),
  );
}

/** Set keys below the messages there; add new ones above. */
function setHeader(head: string, foot: string, changes: readonly ValueChange[]): {head: string; foot: string} {
  const below = foot === '' ? undefined : readYaml(foot).value;
  const isBelow = ({path}: ValueChange) => isMap(below) && Object.hasOwn(below, String(path[0]));
  return {
    head: setValues(
      head,
      changes.filter(change => !isBelow(change)),
      [],
      'messages',
    ),
    foot: setValues(foot, changes.filter(isBelow)),
  };
}
