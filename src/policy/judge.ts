import type {Policy, PolicyTest, Rule, ToolRule, Verdict} from '../formats/rule.ts';
import {denies} from './command/deny.ts';
import {knownUse} from './command/known-use.ts';
import {objection} from './command/objection.ts';
import type {Segment} from './command/plain.ts';
import {type RuleIndex, ruleIndexOf} from './command/rule-index.ts';
import {readLine} from './command/shell.ts';
import {isExact, isFor, literalWords, looseMatch, matches} from './command/words.ts';
import {unwrap} from './command/wrappers.ts';
import {coversPath} from './tool-paths.ts';
import {type ToolDefinition, toolNamed, tools} from './tools.ts';

export interface SegmentJudgement extends Segment {
  verdict: Verdict;
  /** The deciding rule, as written. */
  rule?: string;
  reason: string;
  /** Granted by the rule. */
  sandbox?: 'host';
  network?: true;
  /** Allowed word for word, by a rule that spells out the whole command. */
  exact?: true;
}

export interface Judgement {
  verdict: Verdict;
  segments: SegmentJudgement[];
  reasons: string[];
  /** Why the line may not be exactly its segments. `allow` requires none; then exactly each argv runs. */
  doubts: string[];
}

export interface JudgeOptions {
  agent?: string;
}

const severity = {allow: 0, ask: 1, deny: 2} as const satisfies Record<Verdict, number>;

function worst(a: Verdict, b: Verdict): Verdict {
  return severity[a] >= severity[b] ? a : b;
}

/** Judge a command line: the worst verdict of its simple commands. Must not throw. */
export function judge(line: string, policy: Policy, {agent}: JudgeOptions = {}): Judgement {
  const reading = readLine(line);
  const rules = ruleIndexOf(policy, agent);
  const single = reading.segments.length === 1 && reading.doubts.length === 0;
  // Read shared input only once, so that time stays linear: one denial is enough.
  const taken = new Set<Segment['input']>();
  const segments = reading.segments.map(({input, quoted = [], ...segment}) =>
    judgeSegment(segment, quoted, rules, single, () => {
      const fresh = !taken.has(input);
      taken.add(input);
      return fresh ? (input ?? []) : [];
    }),
  );

  let verdict: Verdict = segments.length === 0 ? 'ask' : 'allow';
  const reasons: string[] = [];
  for (const segment of segments) {
    verdict = worst(verdict, segment.verdict);
    if (segment.verdict !== 'allow') reasons.push(`\`${segment.source}\`: ${segment.reason}`);
  }
  for (const rule of rules.linePatterns) {
    if (!matchesPattern(rule, line)) continue;
    verdict = worst(verdict, rule.verdict);
    reasons.push(`the whole line matches ${describe(rule)}`);
  }
  const ruled = toolRule('execute_command', policy, {agent});
  if (ruled && ruled.verdict !== 'allow') {
    verdict = worst(verdict, ruled.verdict);
    reasons.push(`the policy has ${ruled.words}`);
  }
  if (reading.doubts.length > 0) verdict = worst(verdict, 'ask');
  reasons.push(...reading.doubts.map(doubt => `the line ${doubt}`));
  if (verdict === 'allow') reasons.push(...segments.map(segment => `\`${segment.source}\`: ${segment.reason}`));
  return {verdict, segments, reasons, doubts: reading.doubts};
}

/**
 * `quoted`: indexes of words with characters such as `$` in single quotes. `single`: the line is only this command.
 * `input`: its standard input, in case it is a shell.
 */
function judgeSegment(
  segment: Segment,
  quoted: readonly number[],
  rules: RuleIndex,
  single: boolean,
  input: () => readonly string[],
): SegmentJudgement {
  const {argv, source} = segment;
  const denierOf = (words: readonly string[]): Rule | undefined =>
    rules.denying(words[0] ?? '').find(rule => denies(rule, words));
  let denied = denierOf(argv);
  let through = '';
  const visit = (inner: string[]): void => {
    if (denied) return;
    denied = denierOf(inner);
    if (denied) through = ` (it would run \`${inner.join(' ')}\`)`;
  };
  const {why, doubts} = unwrap(argv, visit, input);
  const matched = rules.segmentPatterns.filter(
    rule => matchesPattern(rule, source) || matchesPattern(rule, argv.join(' ')),
  );
  denied ??= matched.find(rule => rule.verdict === 'deny');
  if (denied) {
    return {...segment, verdict: 'deny', rule: denied.match, reason: `denied by ${describe(denied)}${through}`};
  }

  const asking = matched[0];
  if (asking) return {...segment, verdict: 'ask', rule: asking.match, reason: `asked by ${describe(asking)}`};
  const best = mostLiteral(
    rules.others(argv[0] ?? '').filter(rule => (single || !rule.wholeLine) && matches(rule, argv)),
  );
  const [first] = best;
  if (first === undefined) return {...segment, verdict: 'ask', reason: 'no rule matches'};
  const ask = best.find(rule => rule.verdict === 'ask');
  if (ask) {
    const tie = best.find(rule => rule.verdict === 'allow');
    const reason = `asked by ${describe(ask)}${tie ? `, which ties with ${describe(tie)}` : ''}`;
    return {...segment, verdict: 'ask', rule: ask.match, reason};
  }
  const expanding = quoted.find(index => knownUse(argv)?.quotable.has(index) !== true);
  if (expanding !== undefined) {
    const reason = `\`${argv[expanding]}\` has a $, a backtick or ~, and is not known to be a pattern or a script`;
    return {...segment, verdict: 'ask', rule: first.match, reason};
  }
  const wrapper = why ?? doubts[0];
  const willing = best.filter(rule => objection(rule, argv, wrapper) === undefined);
  // Among equally literal rules, prefer one for exactly this command.
  const granting = willing.find(isExact) ?? willing[0];
  if (!granting) {
    const reason = `${describe(first)} does not cover this: ${objection(first, argv, wrapper)}`;
    return {...segment, verdict: 'ask', rule: first.match, reason};
  }
  return {
    ...segment,
    verdict: 'allow',
    rule: granting.match,
    reason: `allowed by ${describe(granting)}`,
    ...(granting.sandbox && {sandbox: granting.sandbox}),
    ...(granting.network && {network: granting.network}),
    ...(isExact(granting) && {exact: true}),
  };
}

function mostLiteral(rules: readonly Rule[]): Rule[] {
  const most = Math.max(...rules.map(literalWords));
  return rules.filter(rule => literalWords(rule) === most);
}

function matchesPattern(rule: Rule, text: string): boolean {
  return rule.pattern !== undefined && text.search(rule.pattern) >= 0;
}

function describe(rule: Rule): string {
  return `${rule.verdict} rule \`${rule.match}\``;
}

export interface ToolJudgement {
  verdict: Verdict;
  reason: string;
  /** A rule of the policy names the tool. */
  ruled?: true;
}

/** The call of a tool, as far as rules can tell calls apart. */
export interface JudgedTool {
  agent?: string | undefined;
  /** Its `path` argument, relative to the workspace. */
  path?: string | undefined;
}

/** Judge a tool by its name or alias. Never allows `execute_command`, which `judge` handles. */
export function judgeTool(name: string, policy: Policy, call: JudgedTool = {}): ToolJudgement {
  const tool = toolNamed(name);
  const ruled = toolRule(name, policy, call);
  if (tool === 'execute_command') {
    return {verdict: worst('ask', ruled?.verdict ?? 'ask'), reason: 'a command is judged by its words'};
  }
  if (ruled?.verdict === 'allow' && tool !== undefined && (tools[tool] as ToolDefinition).alwaysAsks)
    return {
      verdict: 'ask',
      reason: `the policy has ${ruled.words}, but what goes to people outside is asked each time`,
    };
  if (ruled) return {verdict: ruled.verdict, reason: `the policy has ${ruled.words}`, ruled: true};
  if (tool === undefined) return {verdict: 'ask', reason: `${name} is not a built-in tool, and no rule names it`};
  const {effect, default: verdict} = tools[tool];
  const none = namesTool(policy, tool) ? 'no rule for this path and agent' : 'no rule';
  return {verdict, reason: `${none}; ${effectWords[effect]}: ${verdict} by default`};
}

const effectWords = {
  read: 'it reads',
  write: 'it changes something',
  outside: 'it leaves the home',
  deliver: 'it stays within the home',
} as const;

/**
 * The strictest rule for a call. In the map form, a key with globs counts only for tools that no other key names; in the list
 * form every rule that matches counts.
 */
function toolRule(name: string, policy: Policy, call: JudgedTool): {verdict: Verdict; words: string} | undefined {
  const tool = toolNamed(name) ?? name;
  const rules = Object.entries(policy.tools);
  const named = rules.filter(([key]) => (toolNamed(key) ?? key) === tool);
  const ruled = named.length > 0 ? named : rules.filter(([key]) => looseMatch(key, tool));
  const found = ruled.map(([, verdict]) => ({verdict, words: `${tool}: ${verdict}`}));
  for (const rule of policy.toolRules ?? []) {
    const {match, verdict, paths, agents} = rule;
    const allows = verdict === 'allow';
    if (!matchesTool(rule, tool) || !isFor({verdict, agents}, call.agent)) continue;
    if (paths && !coversPath(paths, {tool, path: call.path, allows})) continue;
    const where = [...(paths ? [`for ${paths.join(', ')}`] : []), ...(agents ? [`of ${agents.join(', ')}`] : [])];
    found.push({verdict, words: [`${match}: ${verdict}`, ...where].join(' ')});
  }
  return found.reduce<(typeof found)[number] | undefined>(
    (a, b) => (a && severity[a.verdict] >= severity[b.verdict] ? a : b),
    undefined,
  );
}

function matchesTool({match}: ToolRule, tool: string): boolean {
  return (toolNamed(match) ?? match) === tool || looseMatch(match, tool);
}

function namesTool({toolRules = []}: Policy, tool: string): boolean {
  return toolRules.some(rule => matchesTool(rule, tool));
}

/** Judge what a test of the policy is about. */
function judgeTest({run, tool, path, agent}: PolicyTest, policy: Policy): {verdict: Verdict; reasons: string[]} {
  if (tool === undefined) return judge(run, policy, agent === undefined ? {} : {agent});
  const {verdict, reason} = judgeTool(tool, policy, {agent, path});
  return {verdict, reasons: [reason]};
}

/** Failing tests of the policy, with the actual judgement. */
export function runPolicyTests(policy: Policy): {test: PolicyTest; got: {verdict: Verdict; reasons: string[]}}[] {
  return policy.tests
    .map(test => ({test, got: judgeTest(test, policy)}))
    .filter(({test, got}) => got.verdict !== test.expect);
}
