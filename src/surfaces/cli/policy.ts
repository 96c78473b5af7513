import {readFileSync} from 'node:fs';
import {parseAllowlist} from '../../formats/allowlist.ts';
import {hasErrors, nearest} from '../../formats/common/diagnostic.ts';
import {exit, UserError} from '../../formats/common/errors.ts';
import {stemOf} from '../../formats/common/key.ts';
import {jsonText, visibleLine} from '../../formats/common/visible.ts';
import type {Policy, Verdict} from '../../formats/rule.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {listFolder, readHomeFile} from '../../home/read.ts';
import {judgeAddress} from '../../policy/address.ts';
import {judge, judgeTool, runPolicyTests} from '../../policy/judge.ts';
import {riskOf} from '../../policy/risk.ts';
import {isExternalTool, toolNamed, tools} from '../../policy/tools.ts';
import {colors, note, plural, print, printWhole} from '../terminal/output.ts';

export const paint: Record<Verdict, (text: string) => string> = {
  allow: colors.green,
  ask: colors.yellow,
  deny: colors.red,
};

interface ExplainOptions {
  home: string;
  /** One: the line, or `-` for standard input. Several: the words of one command. */
  words: readonly string[];
  /** Explain a call of this tool instead, with `words` as its path or address. */
  tool?: string | undefined;
  agent: string | undefined;
  json: boolean;
}

export function policyExplainCommand({home: dir, words, tool: asked, agent, json}: ExplainOptions): number {
  if (words.length === 0 && asked === undefined)
    throw new UserError(
      'name the command line to explain',
      exit.usage,
      'for example: agentdir policy explain "git log"',
    );
  const line = lineOf(words);
  const policy = policyOf(dir);
  if (agent !== undefined) noteUnknownAgent(dir, agent);
  const [tool, argument] =
    asked === undefined ? toolCallIn(words) : [asked, words.length > 0 ? words.join(' ') : undefined];
  if (tool !== undefined && toolNamed(tool) !== 'execute_command')
    return explainTool(tool, argument, policy, {agent, json});
  const judgement = judge(line, policy, agent === undefined ? {} : {agent});
  const risk = riskOf(judgement);
  if (json) {
    const segments = judgement.segments.map(({argv, verdict, rule, reason, sandbox, network}) => ({
      argv,
      verdict,
      rule: rule ?? null,
      reason,
      ...(sandbox && {sandbox}),
      ...(network && {network}),
    }));
    const reasons = [...judgement.reasons, ...risk.factors];
    printWhole(jsonText({verdict: judgement.verdict, segments, risk: risk.level, reasons}));
    return exit.done;
  }
  print(`${paint[judgement.verdict](judgement.verdict)}  ${visibleLine(line)}`);
  for (const {argv, verdict, reason, sandbox, network} of judgement.segments) {
    print(`  ${paint[verdict](verdict.padEnd(5))} ${visibleLine(argv.map(word => JSON.stringify(word)).join(' '))}`);
    print(`        ${colors.dim(visibleLine(reason))}`);
    if (sandbox) print(`        ${colors.yellow('sandbox: host')} ${colors.dim('runs outside the sandbox')}`);
    if (network) print(`        ${colors.yellow('network: true')} ${colors.dim('runs with network access')}`);
  }
  // Already printed with its command.
  const told = new Set(judgement.segments.map(({source, reason}) => `\`${source}\`: ${reason}`));
  for (const reason of judgement.reasons) if (!told.has(reason)) print(`  - ${visibleLine(reason)}`);
  print(`  risk ${risk.level}${colors.dim(`: ${visibleLine(risk.factors.join('; '))}`)}`);
  return exit.done;
}

/** `edit_file src/a.ts`: no program has such a name, so this is a call of the tool. */
function toolCallIn(words: readonly string[]): [tool?: string, argument?: string | undefined] {
  const [first = '', ...rest] = words.length === 1 ? (words[0] ?? '').split(/\s+(.*)/s, 2) : words;
  if (!first.includes('_') || toolNamed(first) !== first || first === 'execute_command') return [];
  return [first, rest.join(' ') || undefined];
}

function explainTool(
  tool: string,
  argument: string | undefined,
  policy: Policy,
  {agent, json}: Pick<ExplainOptions, 'agent' | 'json'>,
): number {
  const name = toolNamed(tool);
  if (name === undefined && !isExternalTool(tool)) {
    const near = nearest(tool, Object.keys(tools));
    throw new UserError(`there is no tool "${tool}"`, exit.usage, near ? `did you mean ${near}?` : 'see docs/tools.md');
  }
  const {verdict, reason} =
    name === 'fetch' && argument !== undefined
      ? judgeAddress(argument, policy, agent)
      : judgeTool(tool, policy, {agent, path: argument});
  if (json) printWhole(jsonText({verdict, tool: name ?? tool, path: argument ?? null, reasons: [reason]}));
  else {
    print(`${paint[verdict](verdict)}  ${visibleLine([name ?? tool, argument].filter(Boolean).join(' '))}`);
    print(`  ${colors.dim(visibleLine(reason))}`);
  }
  return exit.done;
}

/** Quotes words again that the shell has split. */
function lineOf(words: readonly string[]): string {
  const [first = ''] = words;
  if (words.length > 1) return words.map(quoted).join(' ');
  return first === '-' ? readStdin().replace(/\r?\n$/, '') : first;
}

function quoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return word.includes("'") && !/["$`\\!]/.test(word) ? `"${word}"` : `'${word.replaceAll("'", `'\\''`)}'`;
}

export function readStdin(): string {
  return readFileSync(0, 'utf8');
}

/** Warns about an unknown agent, because rules can be limited to agents. */
export function noteUnknownAgent(home: string, agent: string): void {
  const names = listFolder(nodeDisk(home), 'templates').map(stemOf);
  if (names.includes(agent)) return;
  const near = nearest(agent, names);
  note(`there is no agent "${agent}"${near ? `; did you mean ${near}?` : ''}`);
}

export function policyTestCommand({home: dir, json}: {home: string; json: boolean}): number {
  const results = testsOf(policyOf(dir));
  if (json) printWhole(jsonText(results));
  else printTests('allowlist.yaml', results);
  return results.failed.length === 0 ? exit.done : exit.badFile;
}

export interface TestResults {
  tests: number;
  failed: {run: string; expect: Verdict; got: Verdict; reasons: string[]; line: number}[];
}

export function testsOf(policy: Policy): TestResults {
  const failed = runPolicyTests(policy).map(({test: {run, expect, place}, got}) => {
    return {run, expect, got: got.verdict, reasons: got.reasons, line: place.line};
  });
  return {tests: policy.tests.length, failed};
}

export function printTests(file: string, {tests, failed}: TestResults): void {
  for (const {run, expect, got, reasons, line} of failed) {
    print(`${colors.red('✗')} ${visibleLine(`${file}:${line}: ${run}`)}`);
    print(`    expected ${expect}, got ${got}: ${visibleLine(reasons.join('; '))}`);
  }
  const mark = failed.length === 0 ? colors.green('✓') : colors.red('✗');
  print(`${mark} ${plural(tests, 'test')}, ${failed.length} failed`);
}

function policyOf(dir: string): Policy {
  const read = readHomeFile(nodeDisk(dir), 'allowlist.yaml');
  if (!read || !('text' in read))
    throw new UserError(
      'there is no allowlist.yaml, so everything needs approval',
      exit.failed,
      'add the default policy: agentdir init .',
    );
  const {policy, problems} = parseAllowlist(read.text);
  if (hasErrors(problems))
    throw new UserError(
      'allowlist.yaml has errors, so everything needs approval',
      exit.badFile,
      'see: agentdir check allowlist.yaml',
    );
  return policy;
}
