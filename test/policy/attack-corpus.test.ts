import {linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {makeSandbox} from '../../src/effects/sandbox/sandbox.ts';
import type {ToolContext} from '../../src/effects/tool/tool.ts';
import {planCommand} from '../../src/effects/tools/command-plan.ts';
import {parseAllowlist} from '../../src/formats/allowlist.ts';
import type {Policy} from '../../src/formats/rule.ts';
import {judge} from '../../src/policy/judge.ts';
import {toolHome} from '../effects/tool-home.ts';
import {type AttackGroup, attacks, attacksWithoutSandbox, looseRules} from './attack-corpus.ts';

const shipped = parseAllowlist(readFileSync(new URL('../../allowlist.yaml', import.meta.url), 'utf8')).policy;
const loose = allowing(looseRules);
/** The policy of a new home, and every loose rule besides. */
const loosest: Policy = {...shipped, rules: [...shipped.rules.filter(rule => rule.verdict !== 'ask'), ...loose.rules]};

function allowing(rules: readonly string[]): Policy {
  const {policy, problems} = parseAllowlist(JSON.stringify({version: 1, commands: {allow: rules}}));
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  return policy;
}

const policiesOf = ({rules}: AttackGroup) =>
  [
    ['its own rules', allowing(rules)],
    ['the shipped policy', shipped],
    ['every loose rule', loosest],
  ] as const;

/** Without ask rules, `loosest` allows whatever the rules of a group allow. */
const onHost = [
  ['the shipped policy', shipped],
  ['every loose rule', loosest],
] as const;

/** `line   (policy: the rule that allowed it)` for each line that runs by itself. */
function allowedIn(groups: readonly AttackGroup[]): string[] {
  return groups.flatMap(group =>
    policiesOf(group).flatMap(([name, policy]) =>
      group.lines.flatMap(line => {
        const {verdict, segments} = judge(line, policy);
        return verdict === 'allow' ? [`${line}   (${name}: ${segments.map(({rule}) => rule).join(', ')})`] : [];
      }),
    ),
  );
}

async function allowedOnHost(groups: readonly AttackGroup[], context: ToolContext): Promise<string[]> {
  const allowed: string[] = [];
  for (const command of groups.flatMap(({lines}) => lines))
    for (const [name, policy] of onHost) {
      const {verdict} = await planCommand({command}, policy, context);
      if (verdict === 'allow') allowed.push(`${command}   (${name})`);
    }
  return allowed;
}

/** A home whose machine has no sandbox, with a workspace full of links that lead out of it. */
function hostHome(): ToolContext {
  const {context, workspace} = toolHome({commands: {mode: 'off', sandbox: makeSandbox('/nonexistent')}});
  const elsewhere = mkdtempSync(join(tmpdir(), 'agentdir-elsewhere-'));
  onTestFinished(() => rmSync(elsewhere, {recursive: true, force: true}));
  writeFileSync(join(elsewhere, 'passwd'), 'secret\n');
  const secret = join(elsewhere, 'passwd');
  for (const folder of ['dir', 'dir2', 'sub/dir', '.git']) mkdirSync(join(workspace, folder), {recursive: true});
  for (const file of ['a', 'b', 'dir/c', 'dir2/inner', 'sub/inner', '.git/config', '.git/HEAD'])
    writeFileSync(join(workspace, file), 'text\n');
  for (const link of ['out', '-out', 'dir/inner']) symlinkSync(secret, join(workspace, link));
  symlinkSync(elsewhere, join(workspace, 'outdir'));
  symlinkSync(join(elsewhere, 'missing'), join(workspace, 'dangling'));
  symlinkSync('../..', join(workspace, 'sub/dir/up'));
  linkSync(secret, join(workspace, 'hard'));
  return context;
}

describe('attacks on a loose policy', () => {
  test('are many', () => {
    const lines = attacks.flatMap(({groups}) => groups.flatMap(group => group.lines));
    expect(new Set(lines).size).toBeGreaterThanOrEqual(1000);
  });

  test.each(attacks)('$name: nothing runs by itself', ({groups}) => {
    expect(allowedIn(groups)).toEqual([]);
  });

  test.each(attacks)('$name: nothing runs by itself without a sandbox', async ({groups}) => {
    expect(await allowedOnHost(groups, hostHome())).toEqual([]);
  });

  test('links, walks and loose rules do not run by themselves without a sandbox', async () => {
    expect(await allowedOnHost(attacksWithoutSandbox.groups, hostHome())).toEqual([]);
  });
});
