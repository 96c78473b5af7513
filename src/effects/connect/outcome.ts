import {createHash} from 'node:crypto';
import {failure} from '../tool/failure.ts';
import type {Outside, ToolContext, ToolFailure} from '../tool/tool.ts';

/** The action started, but its outcome is unknown. It is not repeated without a person's approval. */
export function unknownOutcome(why: string): ToolFailure {
  return failure(
    'INTERRUPTED',
    `outcome unknown: ${why}. It may have been sent. Find out before trying again; a person is asked before it is sent once more`,
  );
}

/** Error codes of connections that were never established, so nothing was sent. */
const NOT_REACHED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** Return the first code in `NOT_REACHED` along the error's chain of causes. */
export function notReachedCode(error: unknown): string | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 6; depth++) {
    const {code, cause, original, errors} = at as Error & {code?: unknown; original?: unknown; errors?: unknown[]};
    if (typeof code === 'string' && NOT_REACHED.has(code)) return code;
    at = cause ?? original ?? errors?.[0];
  }
  return undefined;
}

/** Derive a UUID from the call and the message: a resend is recognised, and a message edited since gets a new id. */
export function uuidOf(name: string, message: readonly (string | undefined)[]): string {
  const hex = createHash('sha256')
    .update(JSON.stringify(['agentdir', name, ...message]))
    .digest('hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Record what was sent. A failed write does not make the call fail, because the message is already out. */
export async function logSent(
  {agent, session, call, outside}: Pick<ToolContext, 'agent' | 'session' | 'call'> & {outside: Outside},
  file: string,
  record: Readonly<Record<string, unknown>>,
): Promise<{logged: string} | {not_logged: string}> {
  try {
    await outside.sent(file, {...record, ts: new Date().toISOString(), from: `@${agent}`, session, call});
    return {logged: `inbox/${file}`};
  } catch (error) {
    return {not_logged: `inbox/${file} could not be written: ${(error as Error).message}`};
  }
}
