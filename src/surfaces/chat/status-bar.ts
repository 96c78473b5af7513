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
  const all = tabs.map((tab, i) => label(tab, i === active));
  const whole = `${all.join(' ')} ${NEW}`;
  if (textWidth(whole) + 2 + counts.length <= width) return [`${paint(tabs, active, 0, all.length)}  ${paintedCounts}`];
  const second = counts.length <= width ? paintedCounts : counts.slice(0, width);
  return [fitted(tabs, active, all, width), second];
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
function fitted(tabs: readonly BarTab[], active: number, all: readonly string[], width: number): string {
  const before = (from: number) => (from > 0 ? `‹${from}` : '');
  const after = (to: number) => (to < all.length ? `+${all.length - to}${busy(tabs.slice(to))}` : '');
  const size = (from: number, to: number) =>
    [before(from), ...all.slice(from, to), after(to), NEW]
      .filter(Boolean)
      .reduce((sum, each) => sum + textWidth(each) + 1, -1);
  let [from, to] = [active, active + 1];
  for (let isGrowing = true; isGrowing; ) {
    isGrowing = false;
    // Tabs keep their places: the first ones are shown as long as the active one is among them.
    if (from > 0 && size(from - 1, to) <= width) [from, isGrowing] = [from - 1, true];
    else if (to < all.length && size(from, to + 1) <= width) [to, isGrowing] = [to + 1, true];
  }
  if (size(from, to) > width) {
    const name = visibleLine(tabs[active]?.name ?? '');
    return cut(`[${name}*]`, width);
  }
  return paint(tabs, active, from, to, {before: before(from), after: after(to)});
}

function busy(tabs: readonly BarTab[]): string {
  const working = tabs.filter(({mark}) => mark === 'working').length;
  return working > 0 ? `(${working}◐)` : '';
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
