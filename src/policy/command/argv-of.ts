import {minimatch} from 'minimatch';
import type {Assignment, Command, Word} from 'unbash';

/** The words of a simple command after quote removal. */
export function argvOf(command: Command): string[] {
  const words = command.name ? [command.name, ...command.args] : command.args;
  return words.flatMap(word => (word.type === 'Word' ? expand(word) : [withoutQuotes(word)]));
}

/** `alias ls='sudo ls'`: an argument in the form of an assignment, which makes the line ambiguous. */
function withoutQuotes({text, pos, value}: Assignment): string {
  return value?.type !== 'Word' ? text : text.slice(0, value.pos - pos) + value.value;
}

/** `{rm,-rf,x}` is several words. Matters for deny rules only, because a brace makes the line ambiguous. */
function expand(word: Word): string[] {
  if (word.value.length > 512 || !word.parts?.some(part => part.type === 'BraceExpansion')) return [word.value];
  return minimatch.braceExpand(word.value, {braceExpandMax: 256});
}
