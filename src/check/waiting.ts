import type {Problem} from '../formats/common/diagnostic.ts';
import type {Waiting, WaitingItem, WaitingKind} from '../formats/waiting.ts';
import type {Need} from './need.ts';

/** How many items of a kind are named. */
export const MOST_NAMED = 3;

/** A short form of NEEDS_YOU.md, for `agentdir status`. */
export function waitingFor(needs: readonly (Need & {path: string})[], problems: readonly Problem[]): Waiting {
  const waiting: Waiting = {};
  const add = (kind: WaitingKind, item: WaitingItem) => {
    waiting[kind] ??= {count: 0, first: []};
    if (waiting[kind].count++ < MOST_NAMED) waiting[kind].first.push(item);
  };
  const newestFirst = [...needs].sort((a, b) => Number(timeOf(a) < timeOf(b)) - Number(timeOf(a) > timeOf(b)));
  for (const {what, id, title, path, line} of newestFirst) add(what, {id, title, file: path, line});
  for (const {severity, message, file, line} of problems) add(severity, {id: null, title: message, file, line});
  return waiting;
}

function timeOf({since}: Need): string {
  return since ?? '';
}
