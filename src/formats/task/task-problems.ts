import {nearest, type Place, type Problem, problem} from '../common/diagnostic.ts';
import {isId, isTime} from '../common/values.ts';
import {knownFields} from './task.ts';

const MOST = 100;

export class TaskProblems {
  readonly #found: Problem[] = [];
  readonly #counts = {error: 0, warning: 0};
  readonly #ids = new Map<string, number>();
  /** Unknown keys so far, with the known key each may be a typo of. */
  readonly #slips = new Map<string, string | undefined>();

  /** Sorted by line. */
  list(): Problem[] {
    return this.#found.sort((a, b) => a.line - b.line);
  }

  /** Keep the first hundred of each severity: a hostile file may have millions. */
  #say(code: Problem['code'], place: Place, message: string, hint: string, task?: number): void {
    const found = problem(code, place, message, hint);
    const count = ++this.#counts[found.severity];
    // Of more errors nobody knows which tasks they concern, so the last one concerns the file.
    if (count <= MOST) this.#found.push(task === undefined || count === MOST ? found : {...found, task});
  }

  unclosedFence(line: number, mark: string): void {
    const message = `expected the code fence ${mark} to be closed, found the end of the file`;
    this.#say('UNCLOSED_FENCE', {line, column: 1}, message, `add a line ${mark}`);
  }

  unclosedComment(line: number): void {
    const message = 'expected the comment <!-- to be closed, found the end of the file';
    this.#say('UNCLOSED_COMMENT', {line, column: 1}, message, 'add -->');
  }

  /** `box` includes brackets; `next` is the character after it. */
  badBox(place: Place, box: string, next: string): void {
    const known = box.length === 3 && ' _/xX-!'.includes(box.charAt(1));
    const wanted = `expected [ ], [_], [/], [x], [-] or [!], got ${box}`;
    const message = known ? `expected a space after ${box}, found "${next}"` : wanted;
    const hint = known ? `write "${box} "` : 'write [x] for done, [-] for skipped or rejected, [ ] for pending';
    this.#say('BAD_BOX', place, message, hint, place.line);
  }

  lookalike(place: Place): void {
    const hint = 'a task begins "- [ ] ", with one of " _/xX-!" in the box and a space after it';
    this.#say('TASK_LOOKALIKE', place, 'this looks like a task but is read as prose', hint);
  }

  misaligned(place: Place, title: string, aligned: boolean): void {
    const where = aligned
      ? 'two columns right of the dash, or aligned with the first'
      : 'indented deeper than the dash';
    const message = `expected the field ${where}; here it is read as prose`;
    this.#say('MISALIGNED_FIELD', place, message, `indent it like the other lines of "${title}"`);
  }

  badString(place: Place): void {
    const message = 'expected a JSON string, found a \\ that JSON does not know; the text is taken as it stands';
    this.#say('BAD_STRING', place, message, 'double the backslashes, or remove the quotes');
  }

  /** `task`: the line of the task, here and below. */
  duplicate(place: Place, key: string, task: number): void {
    const message = `expected "${key}" once in a task, found it again`;
    this.#say('DUPLICATE_FIELD', place, message, 'remove one of the two', task);
  }

  /** Unknown keys are fine, unless one is a letter away from a known key. */
  checkUnknown(place: Place, key: string): void {
    if (!this.#slips.has(key)) {
      if (key.length < 4 || this.#slips.size > 200) return;
      const near = nearest(key, knownFields);
      this.#slips.set(
        key,
        near !== undefined && Math.abs(near.length - key.length) <= 1 && near[0] === key[0] ? near : undefined,
      );
    }
    const near = this.#slips.get(key);
    if (near)
      this.#say('LIKELY_TYPO', place, `unknown field "${key}" is kept but has no effect`, `did you mean "${near}"?`);
  }

  checkId(place: Place, id: string, task: number): void {
    const first = this.#ids.get(id);
    if (!isId(id)) {
      const message = `expected an id of letters, digits, ".", "_" and "-", got "${id}"`;
      this.#say('BAD_ID', place, message, 'choose a simpler id', task);
    } else if (first !== undefined) {
      const message = `expected each id once, found "${id}" also in line ${first}`;
      this.#say('DUPLICATE_ID', place, message, 'give one of the two another id', task);
    } else this.#ids.set(id, place.line);
  }

  checkDue(place: Place, due: string): void {
    if (isTime(due)) return;
    this.#say('BAD_DUE', place, `expected a date or time such as 2025-10-04, got "${due}"`, 'write it in ISO 8601');
  }
}
