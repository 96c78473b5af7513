import {makeVisible} from '../../formats/common/visible.ts';

const UNITS: readonly (readonly [ms: number, unit: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
];

/** "3m ago"; a date beyond a month. */
export function ago(iso: string, now: number): string {
  const ms = now - Date.parse(iso);
  if (Number.isNaN(ms)) return makeVisible(iso);
  if (ms > 30 * 86_400_000) return iso.slice(0, 10);
  const length = spell(ms);
  return length === '' ? 'now' : `${length} ago`;
}

/** "3m": in its largest unit; empty below a second. */
export function spell(ms: number, whole: (count: number) => number = Math.floor): string {
  const found = UNITS.find(([size]) => ms >= size);
  return found ? `${whole(ms / found[0])}${found[1]}` : '';
}

/** Day and time on this machine's clock. */
export function localTime(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return makeVisible(iso);
  return `${date.toLocaleDateString('sv')} ${date.toTimeString().slice(0, 8)}`;
}

/** The beginning of a long text, by lines and characters, and how much was left out. */
export function shorten(text: string, maxLines: number, maxChars: number): string {
  const lines = text.trimEnd().split('\n');
  const kept = lines.slice(0, maxLines).join('\n').slice(0, maxChars);
  return kept.length === text.trimEnd().length ? kept : `${kept}… (${text.length} characters)`;
}
