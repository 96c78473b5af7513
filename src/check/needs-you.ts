import type {Problem} from '../formats/common/diagnostic.ts';
import {isTime} from '../formats/common/values.ts';
import {codeSpan, fileLink} from '../formats/markdown-text.ts';
import type {Need} from './need.ts';

/** A condition outside the files that blocks the daemon. */
export interface Trouble {
  what: string;
  since: string;
  /** The trouble is an invalid decision. */
  decision?: boolean;
}

export interface NeedsYouInput {
  problems: readonly Problem[];
  needs: readonly (Need & {path: string})[];
  troubles: readonly Trouble[];
  /** When a file last changed: the time of its problems, and of needs without a time; '' if unknown. */
  sinceOf: (path: string) => string;
  /** Name or path of the home, for the heading. */
  home: string;
  /** The page of an approval, if there is one. */
  pageOf?: (id: string) => string | undefined;
}

/** `since` is in milliseconds. `order` breaks ties, so that the output is deterministic. */
interface Item {
  since: number;
  order: string;
  path: string;
  /** Called only for items that are shown. */
  lines: () => string[];
}

interface Group {
  title: string;
  /** The action for each item. */
  todo: string;
  items: Item[];
  /** Where to find the rest, if there are too many. */
  rest: string;
  /** Maximum per file. */
  ofFile?: number;
}

/** `ofFile` keeps one file from crowding out the others. */
const MAX_NEEDS = {items: 200, ofFile: 10, first: 25};

/** The text of NEEDS_YOU.md: everything that needs a person, newest first, with links and instructions. Pure and stable. */
export function needsYou(input: NeedsYouInput): string {
  const errors = input.problems.filter(p => p.severity === 'error');
  // Tasks without session are listed under stalled tasks.
  const warnings = input.problems.filter(p => p.severity !== 'error' && p.code !== 'MISSING_SESSION');
  const nowhere = warnings.filter(({code}) => code === 'UNKNOWN_AGENT');
  const count = input.troubles.length + input.needs.length + errors.length + nowhere.length;
  const home = codeSpan(input.home);
  if (count + warnings.length === 0) return `Nothing needs your attention in ${home}.\n`;
  const groups = groupsOf(input, errors, warnings).filter(group => group.items.length > 0);
  const room = share(groups.map(group => group.items.length));
  return [
    `# ${count === 0 ? 'Nothing needs you' : count === 1 ? '1 thing needs you' : `${count} things need you`}`,
    '',
    `Everything in ${home} that needs your attention, newest first, times in UTC. Agentdir rewrites this file on every change: edit the files it links to, not this one.`,
    ...groups.flatMap((group, i) => render(group, room[i] ?? 0)),
    '',
  ].join('\n');
}

function groupsOf(input: NeedsYouInput, errors: readonly Problem[], warnings: readonly Problem[]): Group[] {
  const [ofFiles, ofTasks] = [
    errors.filter(({task}) => task === undefined),
    errors.filter(({task}) => task !== undefined),
  ];
  const [nowhere, others] = [
    warnings.filter(({code}) => code === 'UNKNOWN_AGENT'),
    warnings.filter(({code}) => code !== 'UNKNOWN_AGENT'),
  ];
  const needs = (what: Need['what']) =>
    input.needs.filter(need => need.what === what).map(need => needItem(need, input));
  return [
    {
      title: 'Agentdir is blocked',
      todo: 'It continues by itself once the cause is fixed.',
      items: input.troubles.filter(({decision}) => !decision).map(troubleItem),
      rest: '`agentdir status`',
    },
    {
      title: 'Decisions that do not count yet',
      todo: 'Nothing runs until it is clear what you decided.',
      items: input.troubles.filter(({decision}) => decision).map(troubleItem),
      rest: '`agentdir status`',
    },
    {
      title: 'Approvals to decide',
      todo: 'Tick `[x]` to approve or `[-]` to reject, and save. Until then the agent waits.',
      items: needs('approval'),
      rest: fileLink('tasks/approvals.task.md'),
    },
    {
      title: 'Sessions in error',
      todo: 'Fix the cause, then set `status: active` to try again, or `status: completed` to end the session.',
      items: needs('session'),
      rest: '`agentdir status`',
    },
    {
      title: 'Files with errors',
      todo: 'Nothing in these files takes effect until you fix the errors.',
      items: ofFiles.map(problem => problemItem(problem, input)),
      ofFile: MAX_NEEDS.ofFile,
      rest: '`agentdir check`',
    },
    {
      title: 'Tasks with errors',
      todo: 'These tasks wait until you fix them. Everything else in their files works.',
      items: ofTasks.map(problem => problemItem(problem, input)),
      ofFile: MAX_NEEDS.ofFile,
      rest: '`agentdir check`',
    },
    {
      title: 'Addresses that lead nowhere',
      todo: 'Nothing is delivered to these names until you correct them, add the agent, or list the person under `people:` in agentdir.yaml.',
      items: nowhere.map(problem => problemItem(problem, input)),
      ofFile: MAX_NEEDS.ofFile,
      rest: '`agentdir check`',
    },
    {
      title: 'Tasks for you',
      todo: 'Tick `[x]` when it is done, or `[-]` to skip it.',
      items: needs('task'),
      rest: '`agentdir tasks`',
    },
    {
      title: 'Stalled tasks',
      todo: 'Each task is blocked (a note says why), was left open by its agent despite a reminder, or lost its session. Once the cause is fixed, reset the box to `[ ]`; or tick it, write to the agent, or restore the session.',
      items: needs('stalled'),
      rest: '`agentdir tasks`',
    },
    {
      title: 'Warnings',
      todo: 'These block nothing.',
      items: others.map(problem => problemItem(problem, input)),
      ofFile: MAX_NEEDS.ofFile,
      rest: '`agentdir check`',
    },
  ];
}

function needItem(need: Need & {path: string}, {sinceOf, pageOf}: NeedsYouInput): Item {
  const since = timeOf(need.since) ?? timeOf(sinceOf(need.path));
  const lines = () => {
    const page = need.what === 'approval' && need.id !== null ? pageOf?.(need.id) : undefined;
    const state = need.state === 'in_progress' ? 'in progress' : need.state === 'blocked' ? 'blocked' : undefined;
    const parts = [
      fileLink(need.path, need.line),
      timeText(since),
      state && `**${state}**`,
      codeSpan(need.title || '(no title)'),
      need.who !== undefined && `for ${codeSpan(`@${need.who}`)}`,
      need.id !== null && `(${codeSpan(need.id)})`,
      page !== undefined && `— details: ${fileLink(page)}`,
    ];
    return [parts.filter(Boolean).join(' '), ...(need.again === undefined ? [] : [`→ ${codeSpan(need.again)}`])];
  };
  return {...placed(since, need.path, need.line), lines};
}

/** Warnings that say what to do, as errors do. */
const WITH_HINT: ReadonlySet<Problem['code']> = new Set(['UNKNOWN_AGENT', 'UNPRICED_MODEL']);

function problemItem(problem: Problem, {sinceOf}: NeedsYouInput): Item {
  const {file, line, column, code, message, hint, severity} = problem;
  const since = timeOf(sinceOf(file));
  const item = placed(since, file, line, `${String(column).padStart(9, '0')} ${code} ${message}`);
  if (severity === 'warning' && !WITH_HINT.has(code))
    return {...item, lines: () => [`${fileLink(file, line)} ${codeSpan(message)}`]};
  const lines = () => [
    [fileLink(file, line), timeText(since), code, codeSpan(message)].filter(Boolean).join(' '),
    `→ ${codeSpan(hint)}`,
  ];
  return {...item, lines};
}

function troubleItem({what, since}: Trouble): Item {
  const time = timeOf(since);
  return {...placed(time, '', 0, what), lines: () => [[timeText(time), codeSpan(what)].filter(Boolean).join(' ')]};
}

function placed(since: number | undefined, path: string, line: number, rest = ''): Omit<Item, 'lines'> {
  return {since: since ?? 0, path, order: `${path}\0${String(line).padStart(9, '0')}\0${rest}`};
}

/** Give each group at least its first few items, and distribute the rest in order. */
function share(sizes: readonly number[]): number[] {
  const room = sizes.map(size => Math.min(size, MAX_NEEDS.first));
  let left = MAX_NEEDS.items - room.reduce((sum, given) => sum + given, 0);
  return room.map((given, i) => {
    const more = Math.min(left, (sizes[i] ?? 0) - given);
    left -= more;
    return given + more;
  });
}

function render({title, todo, items, rest, ofFile: most = items.length}: Group, room: number): string[] {
  const ofFile = new Map<string, number>();
  const shown: Item[] = [];
  for (const item of [...items].sort(newestFirst)) {
    if (shown.length === room) break;
    const nth = (ofFile.get(item.path) ?? 0) + 1;
    ofFile.set(item.path, nth);
    if (nth <= most) shown.push(item);
  }
  const more = items.length - shown.length;
  return [
    '',
    `## ${title} (${items.length})`,
    '',
    todo,
    '',
    ...shown.flatMap(item => item.lines().map((line, i) => (i === 0 ? `- ${line}` : `  ${line}`))),
    ...(more > 0 ? [`- … and ${more} more: ${rest}`] : []),
  ];
}

function newestFirst(a: Item, b: Item): number {
  return b.since - a.since || (a.order < b.order ? -1 : a.order > b.order ? 1 : 0);
}

/** A time without a zone is UTC, so that the output does not depend on the local time zone. */
function timeOf(text: string | null): number | undefined {
  if (text === null || !isTime(text)) return undefined;
  const iso = text.replace(' ', 'T');
  return Date.parse(/T/.test(iso) && !/(?:Z|[+-]\d\d:?\d\d)$/.test(iso) ? `${iso}Z` : iso);
}

function timeText(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString().slice(0, 16).replace('T', ' ');
}
