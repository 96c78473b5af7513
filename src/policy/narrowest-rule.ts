import type {NewRule, Policy, Rule} from '../formats/rule.ts';
import {literally, makeRule, ruleText} from '../formats/rule-text.ts';
import {type Judgement, judge, judgeTool, runPolicyTests} from './judge.ts';
import {pathUse} from './tool-paths.ts';
import {type ToolName, tools} from './tools.ts';

/** Conditions and permissions that a rule for a call needs. */
export interface GrantedRule {
  agent: string;
  /** The call requests to run outside the sandbox. */
  host: boolean;
  network: boolean;
}

/**
 * The narrowest rules that would allow a line from now on: exactly these words, for this agent. `none`: why there are
 * none. The rules are checked against the line and against the policy's own tests.
 */
export function narrowestRule(
  line: string,
  {verdict, segments, doubts}: Judgement,
  policy: Policy,
  {agent, host, network}: GrantedRule,
): {rules: NewRule[]} | {none: string} {
  if (verdict === 'deny') return {none: 'the policy denies it'};
  if (doubts.length > 0) return {none: `no rule can allow a line that ${doubts.join(' and ')}`};
  const asking = segments.filter(segment => segment.verdict === 'ask');
  const rules = new Map<string, NewRule>();
  for (const {argv, source} of asking.length > 0 ? asking : segments) {
    const match = ruleText(argv);
    if (match === undefined) return {none: `no rule can spell \`${source}\``};
    rules.set(match, {
      match,
      ...(host && {sandbox: 'host'}),
      ...(network && {network: true}),
      agents: [agent],
    });
  }
  const added = [...rules.values()];
  const wider = withRules(policy, added);
  const then = judge(line, wider, {agent});
  if (then.verdict !== 'allow')
    return {none: `a rule for these very words would not allow it: ${then.reasons.join('; ')}`};
  const names = asking.map(({argv}) => argv[0] ?? '');
  const touched = wider.tests.filter(({run, tool}) => tool === undefined && names.some(name => run.includes(name)));
  const [failed] = runPolicyTests({...wider, tests: touched});
  if (failed) return {none: `a test of the policy expects ${failed.test.expect} for \`${failed.test.run}\``};
  return {rules: added};
}

/** The narrowest rule that would allow a call of a tool from now on: for this path and this agent. */
export function narrowestToolRule(
  tool: ToolName,
  path: string | undefined,
  policy: Policy,
  agent: string,
): {rules: NewRule[]} | {none: string} {
  if (pathUse(tool) === undefined || path === undefined || tools[tool].effect === 'read')
    return {none: `no rule is narrower than "${tool}: allow" under tools:`};
  if (Object.keys(policy.tools).length > 0)
    return {none: 'tools: in allowlist.yaml is a map, which cannot name paths; write it as a list'};
  const rule = {tool, paths: [literalPath(path)], agents: [agent]};
  const wider = withRules(policy, [rule]);
  const then = judgeTool(tool, wider, {agent, path});
  if (then.verdict !== 'allow') return {none: `a rule for this very path would not allow it: ${then.reason}`};
  const [failed] = runPolicyTests({...wider, tests: wider.tests.filter(test => test.tool !== undefined)});
  if (failed) return {none: `a test of the policy expects ${failed.test.expect} for \`${failed.test.run}\``};
  return {rules: [rule]};
}

/** A glob that matches exactly this path. */
function literalPath(path: string): string {
  const parts = path.split('/').filter(part => part !== '' && part !== '.');
  return parts.map(literally).join('/');
}

export function withRules(policy: Policy, added: readonly NewRule[]): Policy {
  const rules: Rule[] = [...policy.rules];
  const allow = [...policy.network.allow];
  const toolRules = [...(policy.toolRules ?? [])];
  for (const rule of added) {
    if ('tool' in rule) {
      const {tool: match, paths, agents} = rule;
      toolRules.push({match, paths, agents, verdict: 'allow', place: {line: 1, column: 1}});
      continue;
    }
    if ('address' in rule) {
      allow.push(rule.address);
      continue;
    }
    const {match, ...granted} = rule;
    const made = makeRule(match, 'allow', {line: 1, column: 1}, []);
    if (made) rules.push({...made, ...granted});
  }
  return {...policy, rules, toolRules, network: {allow}};
}
