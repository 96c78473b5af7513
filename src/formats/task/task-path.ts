import {kindOf} from '../common/key.ts';
import {needsEscape} from '../common/visible.ts';

/**
 * `redis`, `redis.task.md`, `tasks/redis.task.md`: the path within the home, in the one spelling that it has there.
 * Undefined: it is not the name of a task file.
 */
export function taskPathOf(name: string): string | undefined {
  const inner = name.replace(/^(?:\.\/)?tasks\//, '').replace(/(?:\.task)?\.md$/, '');
  const path = `tasks/${inner}.task.md`;
  // `tasks//x` and `tasks/x` are one file under two names.
  return kindOf(path) !== 'tasks' || /[\\]|\/\/|\/$/.test(path) || needsEscape(path) ? undefined : path;
}
