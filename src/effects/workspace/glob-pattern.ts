import {hasOpenClass, nameMatcher} from './name-pattern.ts';

/** A glob over path components: apply `state = step(state, name)` for each. Always takes linear time. */
export interface GlobPattern {
  start: GlobState;
  /** State after this component; undefined if nothing below can match. */
  step: (state: GlobState, name: string) => GlobState | undefined;
  /** Whether the components so far match. */
  accepts: (state: GlobState) => boolean;
}

/** Positions in the segments of each alternative. */
type GlobState = readonly (readonly number[])[];

type Segment = '**' | ((name: string) => boolean);

const MOST_ALTERNATIVES = 256;
const MAX_GLOB = 1024;

/** `*` and `?` within a name, `[…]`, `**` for any folders, `{a,b}`. A string says why the glob is invalid. */
export function globPattern(source: string): GlobPattern | string {
  if (source.length > MAX_GLOB) return `a glob of more than ${MAX_GLOB} characters`;
  if (hasOpenBrace(source)) return 'a glob in which a { has no }; to find the character, write \\{';
  const alternatives = expandBraces(source);
  if (!alternatives) return `more than ${MOST_ALTERNATIVES} alternatives in braces`;
  if (alternatives.some(each => each.split('/').some(hasOpenClass)))
    return 'a glob in which a [ has no ]; to find the character, write \\[';
  const patterns = alternatives.map(alternative =>
    alternative
      .split('/')
      .filter(part => part !== '' && part !== '.')
      // Adjacent ** are equivalent to one.
      .filter((part, i, parts) => part !== '**' || parts[i - 1] !== '**')
      // A trailing ** matches the content of the folder, not the folder itself.
      .flatMap((part, i, parts) => (part === '**' && i === parts.length - 1 ? ['**', '*'] : [part]))
      .map((part): Segment => (part === '**' ? '**' : nameMatcher(part))),
  );
  return {
    start: patterns.map(segments => closure(segments, [0])),
    step: (state, name) => {
      let alive = false;
      const next = patterns.map((segments, i) => {
        const positions = advance(segments, state[i] ?? [], name);
        if (positions.length > 0) alive = true;
        return positions;
      });
      return alive ? next : undefined;
    },
    accepts: state => patterns.some((segments, i) => state[i]?.includes(segments.length)),
  };
}

export function globMatches(pattern: GlobPattern, parts: readonly string[]): boolean {
  let state: GlobState | undefined = pattern.start;
  for (const part of parts) {
    state = pattern.step(state, part);
    if (!state) return false;
  }
  return pattern.accepts(state);
}

function advance(segments: readonly Segment[], positions: readonly number[], name: string): readonly number[] {
  const next: number[] = [];
  for (const at of positions) {
    const segment = segments[at];
    if (segment === undefined) continue;
    if (segment === '**') next.push(at);
    else if (segment(name)) next.push(at + 1);
  }
  return next.length > 0 ? closure(segments, next) : next;
}

/** `**` also matches no folder at all. */
function closure(segments: readonly Segment[], positions: readonly number[]): readonly number[] {
  const all = new Set(positions);
  for (const at of all) if (segments[at] === '**') all.add(at + 1);
  return [...all];
}

/** `a{b,c}d` → `abd`, `acd`; undefined if there are too many. Braces without a comma are literal. */
function expandBraces(source: string): string[] | undefined {
  const open = findBraces(source);
  if (!open) return [source];
  const {from, to, items} = open;
  const out: string[] = [];
  const rest = expandBraces(source.slice(to + 1));
  if (!rest) return undefined;
  for (const item of items) {
    const inside = expandBraces(item);
    if (!inside) return undefined;
    for (const inner of inside) for (const tail of rest) out.push(source.slice(0, from) + inner + tail);
    if (out.length > MOST_ALTERNATIVES) return undefined;
  }
  return out;
}

function hasOpenBrace(source: string): boolean {
  let depth = 0;
  for (let i = 0; i < source.length; i++) {
    if (source[i] === '\\') i++;
    else if (source[i] === '{') depth++;
    else if (source[i] === '}' && depth > 0) depth--;
  }
  return depth > 0;
}

function findBraces(source: string): {from: number; to: number; items: string[]} | undefined {
  for (let from = source.indexOf('{'); from >= 0; from = source.indexOf('{', from + 1)) {
    if (source[from - 1] === '\\') continue;
    let depth = 0;
    let item = from + 1;
    const items: string[] = [];
    for (let i = from; i < source.length; i++) {
      const char = source[i];
      if (char === '\\') i++;
      else if (char === '{') depth++;
      else if (char === ',' && depth === 1) {
        items.push(source.slice(item, i));
        item = i + 1;
      } else if (char === '}' && --depth === 0) {
        if (items.length === 0) break;
        return {from, to: i, items: [...items, source.slice(item, i)]};
      }
    }
  }
  return undefined;
}
