/** Ids of agents, sessions, tasks and approvals. */
export const ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

export function isId(text: string): boolean {
  return ID_PATTERN.test(text);
}

export const TIME_PATTERN = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/;

/** The daemon's own format, with a day that every month has. */
const USUAL_TIME = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/** Accepts all common ISO 8601 forms; the daemon writes UTC with milliseconds. */
export function isTime(text: string): boolean {
  if (USUAL_TIME.test(text)) return true;
  if (!TIME_PATTERN.test(text) || Number.isNaN(Date.parse(text))) return false;
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split('-').map(Number);
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** `now`, or just after `before`: each version gets a distinct `updated`, whatever the clock does. */
export function laterTime(now: string, before: string | undefined): string {
  if (before === undefined || Number.isNaN(Date.parse(before)) || Date.parse(before) < Date.parse(now)) return now;
  return new Date(Date.parse(before) + 1).toISOString();
}

const UNITS = {s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000} as const;

export const DURATION_PATTERN = /^(\d{1,9})\s*([smhdw])$/;

/** "7d", "36h", "90s" → milliseconds. */
export function durationMs(text: string): number | undefined {
  const match = DURATION_PATTERN.exec(text);
  return match ? Number(match[1]) * UNITS[match[2] as keyof typeof UNITS] : undefined;
}

export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Read an environment variable; an empty value counts as unset. */
export function envValue(env: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  return (Object.hasOwn(env, name) && env[name]?.trim()) || undefined;
}
