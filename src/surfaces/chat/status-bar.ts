import {visibleLine} from '../../formats/common/visible.ts';
import {colors} from '../terminal/output.ts';
import {textWidth} from '../terminal/table.ts';

/** What an agent does. `done`: it has finished its work since you last looked. */
export type AgentMark = 'idle' | 'working' | 'done' | 'failed' | 'waiting' | 'stopped';

export interface BarTab {
  name: string;
  mark: AgentMark;
}

export interface Bar {
  tabs: readonly BarTab[];
  /** Index of the active tab. */
  active: number;
  tasks: {working: number; done: number; failed: number};
  approvals: number;
}

const MARKS: Record<AgentMark, string> = {idle: '', working: '◐', done: '✓', failed: '✗', waiting: '!', stopped: '‖'};
const PAINTS: Record<AgentMark, (text: string) => string> = {
  idle: String,
  working: colors.cyan,
  done: colors.green,
  failed: colors.red,
  waiting: colors.yellow,
  stopped: colors.dim,
};

/**
 * The status bar: one line, or two where it does not fit. Tabs that do not fit are counted.
 *
 * @example [pm*] [architect] [impl-1:◐] [impl-2:✓] [+New]  Tasks: 3◐ 2✓ 1✗  Approvals: 1
 */
export function barLines({tabs, active, tasks, approvals}: Bar, width: number): string[] {
  const counts = `Tasks: ${tasks.working}◐ ${tasks.done}✓ ${tasks.failed}✗  Approvals: ${approvals}`;
  const paintedCounts = `${colors.dim('Tasks:')} ${colors.cyan(`${tasks.working}◐`)} ${colors.green(`${tasks.done}✓`)} ${colors.red(`${tasks.failed}✗`)}  ${approvals > 0 ? colors.yellow(`Approvals: ${approvals}`) : colors.dim('Approvals: 0')}`;
  const room = width - NEW.length - 2 - counts.length;
  if (widthUpTo(tabs, active, room) <= room) return [`${paint(tabs, active, 0, tabs.length)}  ${paintedCounts}`];
  const second = counts.length <= width ? paintedCounts : counts.slice(0, width);
  return [fitted(tabs, active, width), second];
}

/** Columns of all tabs, each with a space after it. Stops counting beyond `most`: there may be thousands. */
function widthUpTo(tabs: readonly BarTab[], active: number, most: number): number {
  let sum = 0;
  for (let i = 0; i < tabs.length && sum <= most; i++) sum += labelWidth(tabs, i, active) + 1;
  return sum;
}

function labelWidth(tabs: readonly BarTab[], i: number, active: number): number {
  const tab = tabs[i];
  return tab ? textWidth(label(tab, i === active)) : 0;
}

const NEW = '[+New]';

function label({name, mark}: BarTab, isActive: boolean): string {
  const sign = MARKS[mark];
  return `[${visibleLine(name)}${isActive ? '*' : ''}${sign === '' ? '' : `:${sign}`}]`;
}

function paint(
  tabs: readonly BarTab[],
  active: number,
  from: number,
  to: number,
  around: {before?: string; after?: string} = {},
): string {
  const painted = tabs.slice(from, to).map((tab, i) => {
    const isActive = from + i === active;
    const text = label(tab, isActive);
    return isActive ? colors.bold(PAINTS[tab.mark](text)) : PAINTS[tab.mark](text);
  });
  const counted = (text = '') => (text === '' ? [] : [colors.dim(text)]);
  return [...counted(around.before), ...painted, ...counted(around.after), colors.dim(NEW)].join(' ');
}

/** As many tabs around the active one as fit, and how many are left out before and after. */
function fitted(tabs: readonly BarTab[], active: number, width: number): string {
  const working = tabs.map(({mark}) => mark === 'working');
  let after = working.slice(active + 1).filter(Boolean).length;
  const left = (to: number, busy: number) =>
    to < tabs.length ? `+${tabs.length - to}${busy > 0 ? `(${busy}◐)` : ''}` : '';
  const before = (from: number) => (from > 0 ? `‹${from}` : '');
  let [from, to, used] = [active, active + 1, labelWidth(tabs, active, active)];
  const fits = (first: number, end: number, columns: number, busy: number) =>
    [before(first), left(end, busy), NEW].filter(Boolean).reduce((sum, each) => sum + textWidth(each) + 1, columns) <=
    width;
  if (!fits(from, to, used, after)) return cut(`[${visibleLine(tabs[active]?.name ?? '')}*]`, width);
  for (;;) {
    // Tabs keep their places: the first ones are shown as long as the active one is among them.
    const earlier = used + 1 + labelWidth(tabs, from - 1, active);
    const later = used + 1 + labelWidth(tabs, to, active);
    const rest = after - (working[to] ? 1 : 0);
    if (from > 0 && fits(from - 1, to, earlier, after)) [from, used] = [from - 1, earlier];
    else if (to < tabs.length && fits(from, to + 1, later, rest)) [to, used, after] = [to + 1, later, rest];
    else break;
  }
  return paint(tabs, active, from, to, {before: before(from), after: left(to, after)});
}

function cut(text: string, width: number): string {
  let [out, used] = ['', 0];
  for (const char of text) {
    used += textWidth(char);
    if (used > width) break;
    out += char;
  }
  return out;
}
