import type {CallRequest} from '../../decide/call-request.ts';
import type {CompletedFile} from '../../decide/complete.ts';
import {addRules} from '../../formats/allowlist-edit.ts';
import {APPROVALS_FILE} from '../../formats/approval/approval-item.ts';
import {blocks} from '../../formats/common/diagnostic.ts';
import {UserError} from '../../formats/common/errors.ts';
import type {NewRule} from '../../formats/rule.ts';
import {timestamp} from '../../home/disk/clock.ts';
import {versionText} from '../../loop/accept-version.ts';
import {lookAgain} from '../../loop/look-again.ts';
import type {Reconciler} from '../../loop/reconciler.ts';
import {rejudgeWaitingCalls} from '../sessions/wake.ts';
import {plannedWriteOf} from '../state/completed-write.ts';
import type {With} from '../state/parts.ts';

const POLICY_FILE = 'allowlist.yaml';

/** Describes the rules added because a person chose `always`, or why none were added. `changed`: why the rules of the request do not fit. `later`: the policy is being written. */
export async function ruleFor(
  {files, approvals}: With<'files' | 'approvals'>,
  {id, ask}: CallRequest,
  changed: string | undefined,
): Promise<{words: string} | {later: true}> {
  if (changed !== undefined) return {words: `none was added: ${changed}`};
  const failed = approvals.rulesRefused.get(id) ?? ('none' in ask.always ? ask.always.none : undefined);
  const blob = files.known.get(POLICY_FILE)?.good;
  const text = blob === undefined ? undefined : await versionText(files, blob, POLICY_FILE);
  if (text === undefined) return {words: `none was added: ${POLICY_FILE} cannot be read`};
  const rules = 'none' in ask.always ? [] : ask.always.rules;
  // Added before a crash. The rules of the request may be unknown by now.
  if (text.includes(commentFor(id))) return {words: rules.map(wordsOf).join(', ') || `see ${POLICY_FILE}`};
  if (failed !== undefined) return {words: `none was added: ${failed}`};
  approvals.rules.set(id, rules);
  lookAgain(files, POLICY_FILE);
  return {later: true};
}

/** allowlist.yaml: adds rules that persons chose with `always`. When the policy changes, waiting calls are judged again. */
export function policyReconciler(daemon: With<'files' | 'approvals'>): Reconciler {
  return {
    kind: 'policy',
    settle: ({parsed}) =>
      parsed?.kind === 'policy' ? plannedWriteOf(settlePolicy(daemon, parsed.file.text), 'always') : undefined,
    accepted: ({facts}) => {
      if (!daemon.files.phase.loading && !blocks(facts.problems)) rejudgeWaitingCalls(daemon);
    },
  };
}

/** The policy with the requested rules. */
function settlePolicy(daemon: With<'files' | 'approvals'>, text: string): CompletedFile | undefined {
  const {rules} = daemon.approvals;
  let result = text;
  const added: string[] = [];
  for (const [id, wanted] of rules) {
    if (result.includes(commentFor(id))) {
      rules.delete(id);
      continue;
    }
    try {
      const before = result;
      result = addRules(before, wanted, `${commentFor(id)}, ${timestamp(daemon.files.disk.clock).slice(0, 10)}`);
      if (result === before) {
        refuse(daemon, id, 'the policy has it already');
        continue;
      }
      added.push(id);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      refuse(daemon, id, error.message);
    }
  }
  if (result === text) return undefined;
  // Add each rule once: a person may remove it again.
  const written = () => {
    for (const id of added) rules.delete(id);
  };
  return {text: result, words: `always allowed by approval ${added.join(', ')}`, tasks: [], approvals: added, written};
}

function refuse({files, approvals}: With<'files' | 'approvals'>, id: string, why: string): void {
  approvals.rulesRefused.set(id, why);
  approvals.rules.delete(id);
  lookAgain(files, APPROVALS_FILE);
}

function commentFor(id: string): string {
  return `approval ${id}`;
}

function wordsOf(rule: NewRule): string {
  if ('address' in rule) return rule.address;
  return 'tool' in rule ? `${rule.tool} ${rule.paths.join(', ')}` : rule.match;
}
