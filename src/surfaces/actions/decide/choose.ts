import {type Grants, grantFields} from '../../../formats/approval/approval-grants.ts';
import {isBudget} from '../../../formats/approval/approval-state.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {fieldOf} from '../../../formats/task/task.ts';
import {redactMessage} from '../talk/redact-message.ts';
import type {PersonDecision} from './decide.ts';
import type {Edited} from './edited.ts';
import {pendingPage} from './page.ts';
import {isUnrecorded, type Request} from './queue.ts';

export interface Approving {
  home: string;
  request: Request;
  /** The git identity. */
  by: string;
  always: boolean;
  /** The answer to a question. */
  answer?: string | undefined;
  /** The edited text. */
  edited?: Edited | undefined;
  /** Permissions to add to a command. */
  grants?: Grants;
  /** The signing key, if any. Budgets are never signed, since they run nothing. */
  key?: string | undefined;
}

/** Builds an approval; the signature comes last. */
export async function approving({
  home,
  request,
  by,
  always,
  answer,
  edited,
  grants = {},
  key,
}: Approving): Promise<PersonDecision> {
  if (isQuestion(request) && (answer ?? '').trim() === '')
    throw new UserError(
      `${request.id} is a question: give an answer`,
      exit.usage,
      `agentdir approve ${request.id} --answer TEXT; or refuse it: agentdir reject ${request.id}`,
    );
  const told = answer === undefined ? undefined : redactMessage(home, answer).content;
  const fields = {
    ...(edited && edited.where !== 'page' ? {command: edited.text} : {}),
    ...(told === undefined ? {} : {answer: told}),
    ...grantFields(grants),
    ...(always ? {always: 'true'} : {}),
    approved_by: by,
    approved_at: new Date().toISOString(),
  };
  if (key === undefined || isBudget(request)) return {request, decision: 'approved', fields};
  const [{signDecision}, {currentEdit}] = await Promise.all([import('./signing.ts'), import('./asked-for.ts')]);
  const text = told ?? (edited ? edited.text : currentEdit(home, request));
  const {wrong: _, ...written} = {...pendingPage(home, request.id)?.file.review?.grants, ...request.grants, ...grants};
  const signed = {edited: text, grants: written};
  return {
    request,
    decision: 'approved',
    fields: {...fields, signature: await signDecision(home, request, signed, key)},
  };
}

/** Builds a rejection; removes fields of an unrecorded approval. */
export function rejecting(home: string, request: Request, by: string, reason: string | undefined): PersonDecision {
  const said = ['approved_by', 'approved_at', 'always', 'signature'];
  const gone = isUnrecorded(request) ? said.filter(key => fieldOf(request.task, key) !== undefined) : [];
  const why = reason === undefined || reason.trim() === '' ? undefined : redactMessage(home, reason).content;
  return {
    request,
    decision: 'rejected',
    fields: {
      ...Object.fromEntries(gone.map(key => [key, undefined])),
      rejected_by: by,
      rejected_at: new Date().toISOString(),
      ...(why === undefined ? {} : {rejection_reason: why}),
    },
  };
}

export function isQuestion({type}: Request): boolean {
  return type === 'question';
}
