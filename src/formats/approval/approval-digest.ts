import {createHash} from 'node:crypto';

/** All that a decision is bound to: a call that differs in any of it is another one, and asks again. */
export interface BoundCall {
  /** As the call names it. */
  tool: string;
  /** JSON, as the model wrote it. */
  arguments: string;
  /** Where it runs, relative to the home, so that a clone of the home gives the same: `workspaces/<agent>`. */
  cwd: string;
  agent: string;
  session: string;
  call: string;
  /** `Ask.basis`. */
  basis: Readonly<Record<string, string>>;
}

/** `sha256:` and 64 hex digits. Neither the order of keys nor the spelling of the arguments counts. Must not throw. */
export function callDigest({tool, arguments: args, cwd, agent, session, call, basis}: BoundCall): string {
  const bound = {tool, ...readArguments(args), cwd, agent, session, call, basis};
  return `sha256:${createHash('sha256').update(canonical(bound)).digest('hex')}`;
}

/** What is no JSON, or nested too deep, counts as it stands; under a key of its own, so that it equals no JSON text. */
function readArguments(text: string): {arguments: unknown} | {text: string} {
  try {
    const value: unknown = JSON.parse(text);
    canonical(value);
    return {arguments: value};
  } catch {
    return {text};
  }
}

/** JSON with sorted keys and no space: one text for one value. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const keys = Object.keys(value).sort();
    const entry = (key: string) => `${JSON.stringify(key)}:${canonical((value as Record<string, unknown>)[key])}`;
    return `{${keys.map(entry).join(',')}}`;
  }
  // JSON has no word for a number that is too large to be one.
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : JSON.stringify(value);
}
