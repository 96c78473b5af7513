import {kindOf} from '../common/key.ts';
import {needsEscape} from '../common/visible.ts';

/** Canonical path of `redis`, `redis.task.md` or `tasks/redis.task.md`; undefined: not the name of a task file. */
export function taskPathOf(name: string): string | undefined {
  const inner = name.replace(/^(?:\.\/)?tasks\//, '').replace(/(?:\.task)?\.md$/, '');
  const path = `tasks/${inner}.task.md`;
  // `tasks//x` and `tasks/x` would be two names of one file.
  return kindOf(path) !== 'tasks' || /[\\\t\n]|\/\/|\/$/.test(path) || needsEscape(path) ? undefined : path;
}
