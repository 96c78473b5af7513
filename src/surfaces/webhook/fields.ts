/** Untrusted JSON of any shape. */
export type Json = Readonly<Record<string, unknown>>;

export function asObject(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** Drops undefined values. */
export function withoutUndefined(record: Readonly<Record<string, unknown>>): Json {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}
