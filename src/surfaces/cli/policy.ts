import {exit, UserError} from '../../errors.ts';
import {parseAllowlist} from '../../files/allowlist.ts';
import {hasErrors} from '../../files/diagnostic.ts';
import type {Policy, Verdict} from '../../files/rule.ts';
import {judge, runPolicyTests} from '../../policy/judge.ts';
import {riskOf} from '../../policy/risk.ts';
import {readHomeFile} from '../../store/read.ts';
import {colors, plural, print, printJson} from './output.ts';

const paint: Record<Verdict, (text: string) => string> = {allow: colors.green, ask: colors.yellow, deny: colors.red};

/** What the policy says of a command line, and why. */
export function explain({
  home: dir,
  line,
  agent,
  json,
}: {
  home: string;
  line: string;
  agent: string | undefined;
  json: boolean;
}): number {
  const judgement = judge(line, policyOf(dir), agent === undefined ? {} : {agent});
  const risk = riskOf(judgement);
  if (json) {
    const segments = judgement.segments.map(({argv, verdict, rule, reason}) => ({
      argv,
      verdict,
      rule: rule ?? null,
      reason,
    }));
    printJson({
      verdict: judgement.verdict,
      segments,
      risk: risk.level,
      reasons: [...judgement.reasons, ...risk.factors],
    });
    return exit.done;
  }
  print(`${paint[judgement.verdict](judgement.verdict)}  ${line}   ${colors.dim(`risk ${risk.level}`)}`);
  for (const segment of judgement.segments) {
    print(
      `  ${paint[segment.verdict](segment.verdict.padEnd(5))} ${segment.argv.map(word => JSON.stringify(word)).join(' ')}`,
    );
    print(`        ${colors.dim(segment.reason)}`);
  }
  for (const reason of judgement.reasons) print(`  - ${reason}`);
  return exit.done;
}

/** The tests that stand in allowlist.yaml itself. */
export function test({home: dir, json}: {home: string; json: boolean}): number {
  const policy = policyOf(dir);
  const failures = runPolicyTests(policy);
  const failed = failures.map(({test: {run, expect, place}, got}) => ({
    run,
    expect,
    got: got.verdict,
    reasons: got.reasons,
    line: place.line,
  }));
  if (json) printJson({tests: policy.tests.length, failed});
  else {
    for (const {run, expect, got, reasons, line} of failed)
      print(
        `${colors.red('✗')} allowlist.yaml:${line}: ${run}\n    expected ${expect}, got ${got}: ${reasons.join('; ')}`,
      );
    print(
      `${failed.length === 0 ? colors.green('✓') : colors.red('✗')} ${plural(policy.tests.length, 'test')}, ${failed.length} failed`,
    );
  }
  return failed.length === 0 ? exit.done : exit.badFile;
}

function policyOf(dir: string): Policy {
  const read = readHomeFile(dir, 'allowlist.yaml');
  if (!read || !('text' in read))
    throw new UserError(
      'there is no allowlist.yaml, so everything asks',
      exit.failed,
      'add the default policy: agentdir init .',
    );
  const {policy, problems} = parseAllowlist(read.text);
  if (hasErrors(problems))
    throw new UserError(
      'allowlist.yaml has errors, so everything asks',
      exit.badFile,
      'see: agentdir check allowlist.yaml',
    );
  return policy;
}
