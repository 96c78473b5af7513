import {exit, UserError} from '../../formats/common/errors.ts';

/** An option that is a whole number above 0. */
export function wholeNumber(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new UserError(`expected a number above 0, got "${text}"`, exit.usage);
  return Number(text);
}
