import {createHash} from 'node:crypto';
import {type Grants, grantFields} from './approval-grants.ts';
import type {Decision} from './approval-review.ts';

/** Everything that a decision is bound to: a call that differs in any of it asks again. */
export interface BoundCall {
  tool: string;
  /** JSON, as the model wrote it. */
  arguments: string;
  /** Working directory relative to the home, so that clones of a home give equal digests: `workspaces/<agent>`. */
  cwd: string;
  agent: string;
  session: string;
  call: string;
  basis: Readonly<Record<string, string>>;
}

/** `sha256:` and 64 hex digits, independent of key order and JSON spelling. Must not throw. */
export function callDigest({tool, arguments: args, cwd, agent, session, call, basis}: BoundCall): string {
  const bound = {tool, ...readArguments(args), cwd, agent, session, call, basis};
  return `sha256:${createHash('sha256').update(canonical(bound)).digest('hex')}`;
}

/** Use text that is not JSON, or too deeply nested, as is, under another key so that it equals no JSON text. */
function readArguments(text: string): {arguments: unknown} | {text: string} {
  try {
    const value: unknown = JSON.parse(text);
    canonical(value);
    return {arguments: value};
  } catch {
    return {text};
  }
}

/** JSON with sorted keys and without spaces: equal values give equal texts. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const keys = Object.keys(value).sort();
    const entry = (key: string) => `${JSON.stringify(key)}:${canonical((value as Record<string, unknown>)[key])}`;
    return `{${keys.map(entry).join(',')}}`;
  }
  // JSON cannot express infinite numbers.
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : JSON.stringify(value);
}

export interface SignedDecision {
  id: string;
  digest: string;
  decision: Decision;
  /** The person's replacement for what was asked, in full; undefined if unchanged. */
  edited: string | undefined;
  /** Permissions that the person grants beyond those asked for. */
  grants?: Grants;
}

/** Canonical text that is signed: the decision and everything that it is bound to. */
export function signedText({id, digest, decision, edited, grants = {}}: SignedDecision): string {
  const granted = grantFields(grants);
  const more = Object.keys(granted).length > 0 && {grants: granted};
  return `${JSON.stringify({agentdir: 'decision', id, digest, decision, edited: edited ?? null, ...more})}\n`;
}
