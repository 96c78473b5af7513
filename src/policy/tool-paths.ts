import {looseMatch, strictMatch} from './command/words.ts';
import {toolNamed, tools} from './tools.ts';

/** Whether a tool takes a `path`; `below`: it also reads what is below that folder, or the whole workspace without a path. */
export function pathUse(name: string): {below: boolean} | undefined {
  const tool = toolNamed(name);
  const path = tool === undefined ? undefined : (tools[tool].arguments.shape as Record<string, unknown>).path;
  if (tool === undefined || path === undefined) return undefined;
  return {below: tools[tool].effect === 'read' && tool !== 'read_file'};
}

/**
 * Whether a rule with these paths covers a call. An allow rule covers less rather than more: only a path whose text leaves no doubt,
 * and for a folder only with everything below. A deny or ask rule covers more: also what lies below a named folder, and a folder
 * that may hold a named path. Links need no care: tools follow none.
 */
export function coversPath(
  globs: readonly string[],
  {tool, path, allows}: {tool: string; path: string | undefined; allows: boolean},
): boolean {
  const use = pathUse(tool);
  const parts = path === undefined ? (use?.below ? [] : undefined) : partsOf(path);
  if (use === undefined || parts === undefined) return !allows;
  return globs.some(glob => (allows ? allowsPath(glob, parts, use.below) : mayConcern(glob, parts, use.below)));
}

/** The components of a path below the workspace; undefined if it is anything else, or a trick. */
function partsOf(path: string): string[] | undefined {
  if (path === '' || /^[/~]|\\|\p{Cc}/u.test(path)) return undefined;
  const parts = path.split('/').filter(part => part !== '' && part !== '.');
  return parts.includes('..') ? undefined : parts;
}

const segmentsOf = (glob: string) => glob.split('/').filter(part => part !== '' && part !== '.');

/** A name that no literal glob has. */
const ANY = '\u0001';

function allowsPath(glob: string, parts: readonly string[], below: boolean): boolean {
  const segments = segmentsOf(glob);
  const matches = (path: readonly string[]) => {
    const {done} = walk(segments, path, strictMatch, name => !name.startsWith('.'));
    return done.at(-1) === true;
  };
  return below ? matches([...parts, ANY]) && matches([...parts, ANY, ANY]) : matches(parts);
}

function mayConcern(glob: string, parts: readonly string[], below: boolean): boolean {
  const {done, alive} = walk(segmentsOf(glob), parts, looseMatch, () => true);
  return done.includes(true) || (below && alive);
}

/**
 * Match components with the segments of a glob, in time proportional to both. `done`: whether the first n components match the whole glob, for each n;
 * `alive`: whether more components could still match it. A last `**` stands for one component at least.
 */
function walk(
  segments: readonly string[],
  parts: readonly string[],
  matches: (word: string, name: string) => boolean,
  skips: (name: string) => boolean,
): {done: boolean[]; alive: boolean} {
  const last = segments.length - 1;
  const closure = (positions: ReadonlySet<number>) => {
    const all = new Set(positions);
    for (const at of all) if (segments[at] === '**' && at < last) all.add(at + 1);
    return all;
  };
  let positions = closure(new Set([0]));
  const done = [positions.has(segments.length)];
  for (const name of parts) {
    const next = new Set<number>();
    for (const at of positions) {
      const segment = segments[at];
      if (segment === undefined) continue;
      if (segment !== '**') {
        if (matches(segment, name)) next.add(at + 1);
      } else if (skips(name)) {
        next.add(at);
        if (at === last) next.add(at + 1);
      }
    }
    positions = closure(next);
    done.push(positions.has(segments.length));
  }
  return {done, alive: positions.size > 0};
}
