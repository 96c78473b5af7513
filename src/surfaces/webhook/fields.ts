/** What strangers send is of whatever shape. */
export type Json = Readonly<Record<string, unknown>>;

export function object(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A text that is not empty. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** Without the keys that have nothing. */
export function given(record: Readonly<Record<string, unknown>>): Json {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}
