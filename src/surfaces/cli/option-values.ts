import {Argument, Option} from 'commander';
import {nearest} from '../../formats/common/diagnostic.ts';
import {exit, UserError} from '../../formats/common/errors.ts';

/** An option with fixed choices, and a hint for typos. */
export function choiceOption(flags: string, description: string, words: readonly string[]): Option {
  const option = new Option(flags, description).choices(words);
  return option.argParser((text: string) => oneOfWords(option.attributeName(), text, words));
}

export function choiceArgument(name: string, description: string, words: readonly string[]): Argument {
  const argument = new Argument(name, description).choices(words);
  return argument.argParser((text: string) => oneOfWords(argument.name(), text, words));
}

function oneOfWords(what: string, text: string, words: readonly string[]): string {
  if (words.includes(text)) return text;
  const near = nearest(text, words);
  const hint = near ? `did you mean ${near}?` : `one of: ${words.join(', ')}`;
  throw new UserError(`no ${what} "${text}"`, exit.usage, hint);
}

/** An option that is a whole number above 0. */
export function wholeNumber(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new UserError(`expected a number above 0, got "${text}"`, exit.usage);
  return Number(text);
}

/** An option that is a whole number, or 0. */
export function countOrNone(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UserError(`expected a number, got "${text}"`, exit.usage);
  return Number(text);
}
