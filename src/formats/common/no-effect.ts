import {nearest, type Place, type Problem, problem} from './diagnostic.ts';

/**
 * The one table of documented keys that this version reads and keeps, but does not act on: the path of a key, and what is not done.
 * Whoever implements one removes its row; a test finds rows whose key is used. Tools that cannot run yet are in
 * `policy/tool/later-tools.ts`.
 */
export const notYet = {
  settings: {
    nats: 'this version does not connect to NATS',
    master: 'this version does not connect to NATS',
    mcp_servers: 'this version does not connect to MCP servers',
  },
  template: {
    persistent: 'all agents run in the daemon',
    auto_start: 'all agents run in the daemon',
    max_idle_seconds: 'all agents run in the daemon',
    isolation: 'all agents run in the daemon',
    mcp_servers: 'this version does not connect to MCP servers',
    backend: 'this version does not run other command line agents',
    backend_args: 'this version does not run other command line agents',
  },
  session: {},
} as const satisfies Record<string, KeysWithoutEffect>;

/** What is not done, by the path of the key without indexes: `models.context_tokens`. */
export type KeysWithoutEffect = Readonly<Record<string, string>>;

/** The warning about an unknown key, or about one of `without` that is set. `known`: the keys of that map; `map`: its value. */
export function keyProblem(
  path: readonly (string | number)[],
  map: object,
  {known, without}: {known: readonly string[]; without: KeysWithoutEffect},
  place: () => Place,
): Problem | undefined {
  const key = String(path.at(-1));
  const name = path.filter(step => typeof step === 'string').join('.');
  const why = Object.hasOwn(without, name) ? without[name] : undefined;
  if (why !== undefined) {
    if (isOff((map as Record<string, unknown>)[key])) return undefined;
    return problem(
      'NO_EFFECT',
      place(),
      `"${key}" has no effect: ${why}`,
      'leave it for a later version, or remove it',
    );
  }
  // By the convention of Compose files, x- is for values that only anchors refer to.
  if (known.includes(key) || key.startsWith('x-')) return undefined;
  const message = `unknown key "${key}" is kept but has no effect`;
  const missing = [...known].sort((a, b) => Number(Object.hasOwn(map, a)) - Number(Object.hasOwn(map, b)));
  // `cost` for `cost_usd`.
  const near = nearest(key, missing) ?? missing.find(name => name.startsWith(`${key}_`));
  if (near === undefined) return problem('NO_EFFECT', place(), message, 'remove it, or make it a comment');
  const twice = Object.hasOwn(map, near) ? ' That key is there already' : '';
  return problem('LIKELY_TYPO', place(), message, `did you mean "${near}"?${twice}`);
}

/** Set to what holds anyway. */
function isOff(value: unknown): boolean {
  if (value === null || value === false || value === 'none') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
