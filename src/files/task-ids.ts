import type {Problem} from './diagnostic.ts';
import type {Field, Task} from './task.ts';
import {isId, isTime} from './values.ts';

type Say = (code: Problem['code'], line: number, column: number, message: string, hint: string) => void;

/** Ids must be ids, each once in the file; due dates must be dates. */
export function checkIds(tasks: readonly Task[], say: Say): void {
  const seen = new Map<string, number>();
  for (const task of tasks) {
    for (const field of task.fields) {
      if (field.key === 'id') checkId(field, seen, say);
      else if (field.key === 'due' && !isTime(field.value)) {
        say(
          'BAD_DUE',
          field.line,
          field.column,
          `expected a date or time such as 2025-10-04, got "${field.value}"`,
          'write it in ISO 8601',
        );
      }
    }
  }
}

function checkId(field: Field, seen: Map<string, number>, say: Say): void {
  const first = seen.get(field.value);
  if (!isId(field.value)) {
    say(
      'BAD_ID',
      field.line,
      field.column,
      `expected an id of letters, digits, ".", "_" and "-", got "${field.value}"`,
      'choose a simpler id',
    );
  } else if (first !== undefined) {
    say(
      'DUPLICATE_ID',
      field.line,
      field.column,
      `expected each id once, found "${field.value}" also in line ${first}`,
      'give one of the two another id',
    );
  } else seen.set(field.value, field.line);
}
