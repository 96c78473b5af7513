import {visibleLine} from '../../formats/common/visible.ts';
import type {Message} from '../../formats/session/session-schema.ts';
import {type ChildRow, childRows, openChildIds} from '../actions/sessions/children.ts';
import {plural} from '../terminal/output.ts';

/** At most one line a second about each session. */
const QUIET_MS = 1_000;

/** Tells how far the sessions are that do tasks for one that is waited for: `▸ coder: 3 calls, 12 s`. */
export class ChildProgress {
  readonly #home: string;
  readonly #tell: (line: string) => void;
  readonly #known = new Map<string, {line: string; at: number}>();
  #looked = 0;

  constructor(home: string, tell: (line: string) => void) {
    this.#home = home;
    this.#tell = tell;
  }

  look(messages: readonly Message[]): void {
    const open = new Set(openChildIds(messages));
    const unfinished = [...this.#known].some(([id, {line}]) => !open.has(id) && line !== ENDED);
    if (open.size === 0 && !unfinished) return;
    const now = performance.now();
    if (open.size > 0 && now - this.#looked < QUIET_MS / 2) return;
    this.#looked = now;
    const [first] = [...open, ...this.#known.keys()];
    const parent = first?.replace(/\.\d+$/, '');
    for (const child of parent === undefined ? [] : childRows(this.#home, parent)) {
      const before = this.#known.get(child.session);
      if (!open.has(child.session) && (!before || before.line === ENDED)) continue;
      const isOver = !open.has(child.session);
      const line = `${child.status} ${child.tool_calls}`;
      if (!isOver && (before?.line === line || now - (before?.at ?? -QUIET_MS) < QUIET_MS)) continue;
      this.#known.set(child.session, {line: isOver ? ENDED : line, at: now});
      this.#tell(words(child));
    }
  }
}

const ENDED = 'ended';

function words({agent, status, tool_calls, duration_seconds}: ChildRow): string {
  const what = [
    ...(status === 'running' ? [] : [status]),
    plural(tool_calls, 'call'),
    `${Math.round(duration_seconds)} s`,
  ];
  return visibleLine(`▸ ${agent}: ${what.join(', ')}`);
}
