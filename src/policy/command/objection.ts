import type {Rule} from '../../formats/rule.ts';
import {commandKind} from './command-name.ts';
import {type KnownUse, knownUse, type UnknownUse} from './known-use.ts';
import {shellOnly} from './shell-only.ts';
import {isExact, isLiteral, literalPrefix} from './words.ts';

/** Why a matching allow rule does not allow this command after all; undefined: it does. */
export function objection(rule: Rule, argv: readonly string[], wrapper: string | undefined): string | undefined {
  const command = argv[0] ?? '';
  if (rule.pattern) return 'a pattern never allows';
  if (command.includes('/') && rule.words[0] !== command) return 'the command is a path that the rule does not spell';
  if (shellOnly.has(commandKind(command))) return `${command} means something only inside a shell`;
  if (wrapper !== undefined && !(isExact(rule) && argv.length > 1)) return wrapper;
  if (isExact(rule)) return undefined;
  const use = knownUse(argv);
  return (rule.anyOptions ? undefined : unknownReason(rule, argv, use)) ?? outsideReason(rule, argv, use);
}

/** The first word that neither the rule spells out nor the row of the command knows as harmless. */
function unknownReason(rule: Rule, argv: readonly string[], use: KnownUse | undefined): string | undefined {
  const remedy = `; write a rule with these very words, or {match: "${rule.match}", any_options: true} to allow any use in the sandbox`;
  if (use === undefined) {
    // Words that the rule spells need no row.
    const isSpelled = argv.length > 1 && argv.every((word, i) => i === 0 || spellsOperand(rule.words[i], word));
    return isSpelled ? undefined : `no use of \`${argv[0]}\` is known to be harmless${remedy}`;
  }
  const unknown = use.unknown.find(word => !spells(rule.words[word.index], word));
  return unknown && `${unknown.reason}${remedy}`;
}

/** Whether a rule's word is literal, or an operand of which it spells the beginning: `git push origin agent/*`. */
function spellsOperand(word: string | undefined, argument: string): boolean {
  if (word === undefined || isLiteral(word)) return word !== undefined;
  const prefix = literalPrefix(word);
  // A colon may begin something else: `agent/x:main` is pushed to main.
  return prefix !== '' && !argument.startsWith('-') && !argument.slice(prefix.length).includes(':');
}

/** Whether a rule's word at the position of an unknown use spells it out. */
export function spells(word: string | undefined, use: UnknownUse): boolean {
  if (word === undefined) return false;
  if (use.noRow === 'operand') return spellsOperand(word, use.flag);
  return isLiteral(word) || (use.flag.startsWith('-') && literalPrefix(word).startsWith(use.flag));
}

function outsideReason(rule: Rule, argv: readonly string[], use: KnownUse | undefined): string | undefined {
  const isOutside = (text: string, i: number) => leavesHere(text) && !spellsPath(rule.words[i], text);
  const outside =
    use?.files.find(({index, path}) => isOutside(path, index))?.index ??
    argv.findIndex((argument, i) => i > 0 && use?.free.has(i) !== true && isOutside(argument, i));
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
