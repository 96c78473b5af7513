import {createHash} from 'node:crypto';
import {readOutline} from '../common/markdown.ts';
import {META, metaPlaces, parseApproval} from './approval.ts';
import {AGAIN} from './approval-again.ts';
import {fenceBelow, setMeta} from './approval-edit.ts';
import {readLabels} from './approval-labels.ts';

/** Metadata key for the hash of what a page showed when it was created. */
const KEY = 'shown';

/** Add a hash of everything that a person may not edit. */
export function withShownMark(page: string): string {
  return setMeta(page, KEY, markOf(page).mark, true);
}

/** Why an approval is ambiguous: more than the editable text changed. Undefined: it did not, or there is no hash. */
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

/** Hash everything above `## Review` except editable parts; ignores blank lines and line ends. */
function markOf(page: string): {mark: string; beside: boolean} {
  const {sections} = readOutline(page);
  const end = sections.findLast(({depth}) => depth <= 2)?.start ?? page.length;
  const head = sections.find(({depth}) => depth === 2)?.start ?? end;
  const label = parseApproval(page).meta.edits;
  const found = readLabels(page, head, end).find(({name}) => name === label?.toLowerCase());
  const fence = found && fenceBelow(page, found.valueStart, end);
  const below = fence && page.slice(fence.end, readLabels(page, fence.end, end)[0]?.start ?? end);
  const isKept = (line: string) => !['status', KEY, AGAIN].includes(META.exec(line.trimEnd())?.[1] ?? '');
  const meta = metaPlaces(page)[1] ?? {start: end, end};
  const data = `${page.slice(0, head)}\n${page.slice(meta.start, meta.end)}`;
  const rest = fence
    ? `${page.slice(head, fence.start)}\n${page.slice(fence.end, meta.start)}`
    : page.slice(head, meta.start);
  const lines = [...data.split('\n').filter(isKept), ...rest.split('\n'), ...page.slice(meta.end, end).split('\n')]
    .map(line => line.trimEnd())
    .filter(Boolean);
  const mark = createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16);
  return {mark, beside: below !== undefined && below.trim() !== ''};
}
