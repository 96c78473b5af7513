import {createHash} from 'node:crypto';
import {readOutline} from '../common/markdown.ts';
import {META, parseApproval} from './approval.ts';
import {fenceBelow, setMeta} from './approval-edit.ts';
import {readLabels} from './approval-labels.ts';

/** The key under which a page says what it showed when it was made. */
const KEY = 'shown';

/** A new page with a mark of all that a person may not change by changing it. */
export function withShownMark(page: string): string {
  return setMeta(page, KEY, markOf(page).mark);
}

/**
 * Why a yes on, or beside, this page does not say what is to be done: more of it was changed than the one text that may
 * be. Undefined: nothing else was, or it does not say what it showed.
 */
export function strayEdit(page: string): string | undefined {
  const {meta} = parseApproval(page);
  if (meta[KEY] === undefined) return undefined;
  const {mark, beside} = markOf(page);
  if (mark === meta[KEY]) return undefined;
  const may =
    meta.edits === undefined ? 'nothing above its Review can' : `only the text in the fence under ${meta.edits} can`;
  const fence = beside
    ? ` (below that fence there is more; a text that has lines of \`\`\` itself needs a longer fence around it)`
    : '';
  return `was changed where that changes nothing: ${may}${fence}; undo the rest, or delete the page: it comes back as it was asked`;
}

/** Of all above `## Review` but what the daemon or the person may change; blank lines and line ends do not count. */
function markOf(page: string): {mark: string; beside: boolean} {
  const {sections} = readOutline(page);
  const end = sections.findLast(({depth}) => depth <= 2)?.start ?? page.length;
  const head = sections.find(({depth}) => depth === 2)?.start ?? end;
  const label = parseApproval(page).meta.edits;
  const found = readLabels(page, head, end).find(({name}) => name === label?.toLowerCase());
  const fence = found && fenceBelow(page, found.valueStart, end);
  const below = fence && page.slice(fence.end, readLabels(page, fence.end, end)[0]?.start ?? end);
  const data = page.slice(0, head).split('\n');
  const kept = data.filter(line => !['status', KEY].includes(META.exec(line.trimEnd())?.[1] ?? ''));
  const rest = fence ? `${page.slice(head, fence.start)}\n${page.slice(fence.end, end)}` : page.slice(head, end);
  const lines = [...kept, ...rest.split('\n')].map(line => line.trimEnd()).filter(Boolean);
  const mark = createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16);
  return {mark, beside: below !== undefined && below.trim() !== ''};
}
