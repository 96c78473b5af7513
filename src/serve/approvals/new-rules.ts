import {UserError} from '../../errors.ts';
import {addRules} from '../../files/allowlist-edit.ts';
import {APPROVALS_FILE} from '../../files/approval/approval-item.ts';
import type {NewRule} from '../../files/rule.ts';
import type {CallRequest} from '../../reconcile/call-request.ts';
import type {Completed} from '../../reconcile/complete.ts';
import {timestamp} from '../../store/clock.ts';
import {lookAgain} from '../look-again.ts';
import type {Serving} from '../serving.ts';
import {textOf} from '../state.ts';

export const POLICY_FILE = 'allowlist.yaml';

/** What became of a person's wish that a call is always allowed, in words; `later`: the policy is being written. */
export async function ruleFor(
  serving: Serving,
  {id, ask}: CallRequest,
  edited: string | undefined,
): Promise<{words: string} | {later: true}> {
  if (edited !== undefined) return {words: 'none was added: the text was changed'};
  const failed = serving.approvals.rulesRefused.get(id) ?? ('none' in ask.always ? ask.always.none : undefined);
  const blob = serving.known.get(POLICY_FILE)?.good;
  const text = blob === undefined ? undefined : await textOf(serving, blob, POLICY_FILE);
  if (text === undefined) return {words: `none was added: ${POLICY_FILE} cannot be read`};
  const rules = 'none' in ask.always ? [] : ask.always.rules;
  // Added before the daemon was killed: by now it may be too late to tell which.
  if (text.includes(commentFor(id))) return {words: rules.map(wordsOf).join(', ') || `see ${POLICY_FILE}`};
  if (failed !== undefined) return {words: `none was added: ${failed}`};
  serving.approvals.rules.set(id, rules);
  lookAgain(serving, POLICY_FILE);
  return {later: true};
}

/** The policy with the rules that persons want added. */
export function settlePolicy(serving: Serving, text: string): Completed | undefined {
  const {rules} = serving.approvals;
  let result = text;
  const added: string[] = [];
  for (const [id, wanted] of rules) {
    if (result.includes(commentFor(id))) {
      rules.delete(id);
      continue;
    }
    try {
      const before = result;
      result = addRules(before, wanted, `${commentFor(id)}, ${timestamp(serving.clock).slice(0, 10)}`);
      if (result === before) {
        refuse(serving, id, 'the policy has it already');
        continue;
      }
      added.push(id);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      refuse(serving, id, error.message);
    }
  }
  if (result === text) return undefined;
  // Once: a person who takes it out again means it.
  const written = () => {
    for (const id of added) rules.delete(id);
  };
  return {text: result, words: `always allowed by approval ${added.join(', ')}`, tasks: [], approvals: added, written};
}

function refuse(serving: Serving, id: string, why: string): void {
  serving.approvals.rulesRefused.set(id, why);
  serving.approvals.rules.delete(id);
  lookAgain(serving, APPROVALS_FILE);
}

function commentFor(id: string): string {
  return `approval ${id}`;
}

function wordsOf(rule: NewRule): string {
  return 'address' in rule ? rule.address : rule.match;
}
