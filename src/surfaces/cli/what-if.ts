import {readFileSync} from 'node:fs';
import {problemsWithin} from '../../check/problems-within.ts';
import {parseAllowlist} from '../../formats/allowlist.ts';
import {hasErrors} from '../../formats/common/diagnostic.ts';
import {exit, UserError} from '../../formats/common/errors.ts';
import {isSegment, stemOf} from '../../formats/common/key.ts';
import {jsonText, visibleLine} from '../../formats/common/visible.ts';
import {emptyPolicy, type Policy} from '../../formats/rule.ts';
import type {Session} from '../../formats/session/session.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {everySession} from '../../home/past-sessions.ts';
import {readHomeFile} from '../../home/read.ts';
import {type PastCall, type RejudgedCall, type WhatIf, whatIf} from '../../policy/what-if.ts';
import {colors, note, plural, print, printWhole, screenWidth} from '../terminal/output.ts';
import {fitTable} from '../terminal/table.ts';
import {noteUnknownAgent, paint, printTests, readStdin, testsOf} from './policy.ts';
import {renderProblem} from './problem.ts';
import {progressOn} from './progress.ts';
import {ago} from './short-text.ts';

interface WhatIfOptions {
  home: string;
  /** The new allowlist; `-` is standard input. */
  allowlist: string;
  agent: string | undefined;
  json: boolean;
}

export async function policyWhatIfCommand({home, allowlist, agent, json}: WhatIfOptions): Promise<number> {
  const text = readNew(allowlist);
  const name = allowlist === '-' ? 'standard input' : allowlist;
  const file = parseAllowlist(text);
  if (hasErrors(file.problems)) {
    const problems = file.problems.map(problem => ({...problem, file: name}));
    printWhole(json ? jsonText({problems}) : problems.map(problem => renderProblem(problem, text)).join('\n\n'));
    return exit.badFile;
  }
  if (agent !== undefined) noteUnknownAgent(home, agent);
  const calls = new Map<string, PastCall>();
  const visit = (path: string, session: Session) => {
    for (const call of callsOf(path, session)) {
      if (agent !== undefined && call.agent !== agent) continue;
      const key = JSON.stringify([call.session, call.call, call.tool, call.arguments]);
      if (!calls.has(key)) calls.set(key, call);
    }
  };
  const {sessions, commits, unread} = await everySession(home, visit, progressOn(process.stderr, json, 'versions'));
  if (unread > 0) note(`${plural(unread, 'version')} of sessions could not be read because of errors in them`);
  const result = whatIf(calls.values(), presentPolicy(home), file.policy);
  const tests = testsOf(file.policy);
  if (json) printWhole(jsonText({...toJson(result), sessions, commits, tests}));
  else {
    for (const problem of problemsWithin({kind: 'policy', path: name, file}).filter(p => p.severity === 'warning'))
      printWhole(`${renderProblem({...problem, file: name}, text)}\n`);
    report(result);
    print(
      colors.dim(
        `looked at ${plural(sessions, 'session')}, in the files and in ${plural(commits, 'commit')} of HEAD's history`,
      ),
    );
    printTests(name, tests);
  }
  return tests.failed.length === 0 ? exit.done : exit.badFile;
}

function readNew(path: string): string {
  if (path === '-') return readStdin();
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'does not exist' : `cannot be read: ${code}`;
    throw new UserError(`${path} ${why}`, exit.failed, 'make one: cp allowlist.yaml NEW.yaml, then change it');
  }
}

function presentPolicy(home: string): Policy {
  const read = readHomeFile(nodeDisk(home), 'allowlist.yaml');
  const file = read && 'text' in read ? parseAllowlist(read.text) : undefined;
  if (file && !hasErrors(file.problems)) return file.policy;
  note(`allowlist.yaml ${file ? 'has errors' : 'is not there'}, so everything needs approval`);
  return emptyPolicy;
}

function callsOf(path: string, {header, messages}: Session): PastCall[] {
  const stem = stemOf(path);
  const session = isSegment(path) ? stem.replace(/\.\d+$/, '') : (header?.session_id ?? stem);
  return messages.flatMap(message =>
    (message.tool_calls ?? []).map(call => ({
      agent: header?.agent_id ?? '',
      session,
      call: call.id,
      when: message.timestamp,
      tool: call.function.name,
      arguments: call.function.arguments,
    })),
  );
}

function toJson({commands, commandCalls, changed, tools}: WhatIf): Record<string, unknown> {
  const row = ({what: _, when, grants, rule, ...rest}: RejudgedCall) => ({
    ...rest,
    when: when ?? null,
    rule: rule ?? null,
    ...(grants.before === grants.after ? {} : {grants}),
  });
  return {
    commands,
    calls: commandCalls,
    changed: changed.map(change => ({command: change.what, ...row(change)})),
    tools: tools.map(change => ({tool: change.what, ...row(change)})),
  };
}

const change = ({before, after, grants}: RejudgedCall): string => {
  const label = (verdict: RejudgedCall['before'], grant: string) =>
    `${paint[verdict](verdict)}${grant && ` (${grant})`}`;
  return `${label(before, grants.before)} → ${label(after, grants.after)}`;
};

function report({commands, commandCalls, changed, tools}: WhatIf): void {
  const now = Date.now();
  for (const [title, group] of grouped(changed)) {
    const calls = group.reduce((sum, {count}) => sum + count, 0);
    print(`${title}: ${plural(group.length, 'command')}, ${plural(calls, 'call')}`);
    const rows = group.map(({what, agent, session, when, count, rule, reasons}) => [
      visibleLine(what),
      visibleLine(agent),
      String(count),
      `${visibleLine(session)}${when === undefined ? '' : `, ${ago(when, now)}`}`,
      visibleLine(rule ?? reasons[0] ?? ''),
    ]);
    printWhole(`${fitTable(['Command', 'Agent', 'Calls', 'Last', 'Decided by'], rows, screenWidth(), {words: 0})}\n`);
  }
  if (tools.length > 0) {
    const rows = tools.map(({what, before, after, count, reasons}) => {
      return [visibleLine(what), before, after, String(count), visibleLine(reasons[0] ?? '')];
    });
    printWhole(`${fitTable(['Tool', 'Now', 'New', 'Calls', 'Because'], rows, screenWidth())}\n`);
  }
  const rest = commands - changed.length;
  print(
    `${plural(commands, 'command')} in the journal (${plural(commandCalls, 'call')}): ${changed.length} would change, ${colors.dim(`${rest} would not`)}`,
  );
}

function grouped(changed: readonly RejudgedCall[]): Map<string, RejudgedCall[]> {
  const groups = new Map<string, RejudgedCall[]>();
  for (const one of changed) {
    const group = groups.get(change(one));
    if (group) group.push(one);
    else groups.set(change(one), [one]);
  }
  return groups;
}
