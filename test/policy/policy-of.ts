import type {Policy, Rule, Verdict} from '../../src/formats/rule.ts';

const place = {line: 1, column: 1};

type Written =
  | string
  | ({match: string} & Partial<Pick<Rule, 'sandbox' | 'network' | 'anyOptions' | 'agents' | 'wholeLine' | 'pattern'>>);

export function ruleOf(verdict: Verdict, written: Written): Rule {
  const {match, ...rest} = typeof written === 'string' ? {match: written} : written;
  const words = match.split(/\s+/);
  const open = words.at(-1) === '*';
  return {verdict, match, words: open ? words.slice(0, -1) : words, open, place, ...rest};
}

/** A policy by hand, so that these tests do not depend on the reader of allowlist.yaml. */
export function policyOf(
  commands: Partial<Record<Verdict, readonly Written[]>>,
  rest: Partial<Pick<Policy, 'tools' | 'tests'>> = {},
): Policy {
  const rules = (['allow', 'ask', 'deny'] as const).flatMap(verdict =>
    (commands[verdict] ?? []).map(written => ruleOf(verdict, written)),
  );
  return {rules, tools: {}, network: {allow: []}, tests: [], ...rest};
}
