import {visibleLine} from '../../formats/common/visible.ts';
import {fieldOf} from '../../formats/task/task.ts';
import {pendingPage} from '../actions/decide/page.ts';
import type {Request} from '../actions/decide/queue.ts';
import {colors, print} from '../terminal/output.ts';
import {askLine, leftError} from './keys.ts';

/** The suggested answers of a question. */
function optionsOf(home: string, {id, task}: Request): string[] {
  const text = pendingPage(home, id)?.file.action.options ?? fieldOf(task, 'options') ?? '';
  return text
    .split('\n')
    .map(line => line.replace(/^\s*(?:[-*]|\d+[.)])\s+/, '').trim())
    .filter(Boolean);
}

/** An answer to a question, from the terminal; empty: none. */
export async function askAnswer(home: string, request: Request): Promise<string> {
  const options = optionsOf(home, request);
  print(colors.bold(visibleLine(request.task.title)));
  for (const [i, option] of options.entries()) print(`  ${i + 1}  ${visibleLine(option)}`);
  const answer = await askLine(options.length > 0 ? 'answer (a number, or words): ' : 'answer: ');
  if (answer === undefined) throw leftError();
  return chosen(options, answer);
}

/** An answer from `--answer`, which may be a number. */
export function answerGiven(home: string, request: Request, answer: string): string {
  return chosen(optionsOf(home, request), answer.trim());
}

/** Replaces a number by its option, unless the number itself is an option. */
function chosen(options: readonly string[], answer: string): string {
  return /^\d+$/.test(answer) && !options.includes(answer) ? (options[Number(answer) - 1] ?? answer) : answer;
}
