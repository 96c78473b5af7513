import {isDeepStrictEqual} from 'node:util';
import {parseAllowlist} from './allowlist.ts';
import {refuseErrors} from './common/diagnostic.ts';
import {exit, UserError} from './common/errors.ts';
import type {NewRule} from './rule.ts';
import {commentLastItem} from './yaml/yaml-comments.ts';
import {editYaml} from './yaml/yaml-edit.ts';
import {readYaml} from './yaml/yaml-source.ts';

/**
 * Append rules to `commands: allow:` and `network: allow:`, each below a line `# comment` with its origin. Skips rules
 * that exist already. Throws UserError without changes if the file has errors or would have some.
 */
export function addRules(text: string, rules: readonly NewRule[], comment: string): string {
  const file = parseAllowlist(text);
  refuseErrors(file.problems);
  if (file.form === 'flat') {
    throw new UserError(
      'the flat form of allowlist.yaml cannot say what a single command or one agent may do',
      exit.badFile,
      'rewrite it with "version: 1" and "commands:"',
    );
  }
  let edited = text;
  for (const rule of rules) {
    const list = 'address' in rule ? ['network', 'allow'] : 'tool' in rule ? ['tools'] : ['commands', 'allow'];
    const item = itemOf(rule);
    if ('tool' in rule && Object.keys(file.policy.tools).length > 0)
      throw new UserError(
        'tools: in allowlist.yaml is a map, which cannot name paths',
        exit.badFile,
        'write it as a list: - {match: write_file, verdict: ask}',
      );
    if (itemsOf(edited, list).some(known => isDeepStrictEqual(known, item))) continue;
    edited = commentLastItem(editYaml(edited, {append: list, item}), list, comment);
  }
  refuseErrors(parseAllowlist(edited).problems);
  return edited;
}

/** The shortest form of a rule. */
function itemOf(rule: NewRule): unknown {
  if ('address' in rule) return rule.address;
  if ('tool' in rule) return {match: rule.tool, paths: [...rule.paths], agents: [...rule.agents], verdict: 'allow'};
  const {match, sandbox, network, agents} = rule;
  if (!sandbox && !network && !agents) return match;
  return {match, ...(sandbox && {sandbox}), ...(network && {network}), ...(agents && {agents: [...agents]})};
}

function itemsOf(text: string, list: readonly string[]): readonly unknown[] {
  let value: unknown = readYaml(text).value;
  for (const key of list) value = (value as Record<string, unknown> | null | undefined)?.[key];
  return Array.isArray(value) ? value : [];
}
