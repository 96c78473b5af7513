import type {Rule} from '../../formats/rule.ts';
import {commandKind} from './command-name.ts';
import {riskyUses, spells} from './flags.ts';
import {isExact, isLiteral, literalPrefix} from './words.ts';
import {shellOnly} from './wrapper-table.ts';

/** Why a matching allow rule does not allow this command after all; undefined: it does. */
export function objection(rule: Rule, argv: readonly string[], wrapper: string | undefined): string | undefined {
  const command = argv[0] ?? '';
  if (rule.pattern) return 'a pattern never allows';
  if (command.includes('/') && rule.words[0] !== command) return 'the command is a path that the rule does not spell';
  if (shellOnly.has(commandKind(command))) return `${command} means something only inside a shell`;
  if (wrapper !== undefined && !(isExact(rule) && argv.length > 1)) return wrapper;
  const use = isExact(rule) ? undefined : riskyUses(argv).find(risky => !spells(rule.words[risky.index], risky));
  if (use) return use.reason;
  const outside = argv.findIndex(
    (argument, i) => i > 0 && leavesHere(argument) && !spellsPath(rule.words[i], argument),
  );
  return outside < 0 ? undefined : `\`${argv[outside]}\` may be a path outside the working directory`;
}

/** Whether an argument has an absolute path or a `..` component, as an operand or attached to an option or name. */
function leavesHere(argument: string): boolean {
  if (argument.split(/[=:,@]/).some(piece => piece.startsWith('/'))) return true;
  if (argument.split(/[/=:,@]/).includes('..')) return true;
  // Letters followed by the value: `-I/usr/include`, `-C..`.
  return /^-[A-Za-z0-9]+(\/|\.\.(\/|$))/.test(argument);
}

function spellsPath(word: string | undefined, argument: string): boolean {
  if (word === undefined) return false;
  return isLiteral(word) || (leavesHere(literalPrefix(word)) && !argument.split(/[/=:,@]/).includes('..'));
}
