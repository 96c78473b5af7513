import {exit} from '../../formats/common/errors.ts';
import {jsonText, visibleLine} from '../../formats/common/visible.ts';
import {oneOf} from '../actions/talk/one-of.ts';
import {type Audit, audit} from '../actions/verify/audit.ts';
import {type AuditFinding, findingKinds} from '../actions/verify/finding.ts';
import {colors, plural, print, printWhole} from '../terminal/output.ts';
import {progressOn} from './progress.ts';

interface VerifyOptions {
  home: string;
  /** A session or an approval, by any unique part of its id. */
  what: string | undefined;
  json: boolean;
}

export async function verifyCommand({home, what, json}: VerifyOptions): Promise<number> {
  const result = await audit(home, progressOn(process.stderr, json, 'commits'));
  const {sessions, approvals, unread} = result;
  const one =
    what === undefined
      ? undefined
      : oneOf('session or approval', what, [...sessions, ...approvals], 'see: agentdir list');
  const findings = result.findings.filter(
    ({session, approval}) => one === undefined || session === one || approval === one,
  );
  if (json) printWhole(jsonText(toJson(result, findings)));
  else report(result, findings);
  if (findings.length > 0) return exit.failed;
  return unread.length > 0 ? exit.badFile : exit.done;
}

function toJson(result: Audit, findings: readonly AuditFinding[]): Record<string, unknown> {
  const {commits, executions, decisions, unread, passing, recovered, elsewhere, shallow} = result;
  const rows = findings.map(({kind, what, commit, time, session, call, tool, approval}) => ({
    kind,
    what,
    commit,
    time,
    session: session ?? null,
    call: call ?? null,
    tool: tool ?? null,
    approval: approval ?? null,
    hint: hintOf(kind, commit),
  }));
  return {
    commits,
    executions,
    decisions,
    findings: rows,
    unread,
    unread_earlier: passing,
    recovered,
    elsewhere,
    shallow,
  };
}

function hintOf(kind: AuditFinding['kind'], commit: string): string {
  return findingKinds[kind].replace('COMMIT', short(commit));
}

function short(commit: string): string {
  return commit.slice(0, 10);
}

function report(result: Audit, findings: readonly AuditFinding[]): void {
  for (const [session, group] of bySession(findings)) {
    print(session === undefined ? 'no session' : `session ${visibleLine(session)}`);
    for (const {kind, what, commit, time, call, tool} of group) {
      const called = call === undefined ? '' : ` ${visibleLine(`${tool} ${call}`)}:`;
      print(`  ${colors.red('✗')} ${colors.dim(`${short(commit)} ${time}`)}${called} ${visibleLine(what)}`);
      print(`    ${colors.cyan('=')} ${hintOf(kind, commit)}`);
    }
    print('');
  }
  for (const {path, commit, why} of result.unread)
    print(`${colors.yellow('!')} ${visibleLine(path)} cannot be read as of ${short(commit)}: ${visibleLine(why)}`);
  for (const line of notes(result)) print(colors.dim(line));
  const {commits, executions, decisions} = result;
  const looked = `${plural(commits, 'commit')}, ${plural(executions, 'execution')}, ${plural(decisions, 'decision')}`;
  if (findings.length > 0) print(`${colors.red(plural(findings.length, 'finding'))} in ${looked}`);
  else if (result.unread.length > 0)
    print(`${colors.yellow('no findings, but some versions could not be read')}: ${looked}`);
  else print(`${colors.green('nothing ran without approval')}: ${looked}`);
}

function notes({shallow, passing, recovered, elsewhere}: Audit): string[] {
  return [
    shallow && 'this is a shallow clone: older commits are not checked (git fetch --unshallow)',
    elsewhere > 0 && `${plural(elsewhere, 'call')} ran elsewhere, in sessions that were added with their results`,
    passing > 0 &&
      `${plural(passing, 'earlier version')} of files had errors; their content was read from later versions`,
    recovered > 0 &&
      `${plural(recovered, 'execution')} and its decision were committed together after a crash; their order is taken from the files`,
  ].filter(line => line !== false);
}

function bySession(findings: readonly AuditFinding[]): Map<string | undefined, AuditFinding[]> {
  const groups = new Map<string | undefined, AuditFinding[]>();
  for (const finding of findings) groups.set(finding.session, [...(groups.get(finding.session) ?? []), finding]);
  return groups;
}
