import {type Problem, problem} from '../common/diagnostic.ts';
import {lineStarts, placeAt} from '../common/lines.ts';
import {readOutline} from '../common/markdown.ts';
import {isId} from '../common/values.ts';
import {type Label, readLabels} from './approval-labels.ts';
import {type Review, readReview} from './approval-review.ts';

const approvalTypes = [
  'terminal_command',
  'file_write',
  'external_message',
  'network',
  'task_start',
  'delegate',
  'budget',
  'retry',
  'question',
] as const;
export type ApprovalType = (typeof approvalTypes)[number];
const risks = ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'] as const;
export type ApprovalRisk = (typeof risks)[number];

/** approvals/…/<id>.approval.md */
export interface ApprovalFile {
  text: string;
  id: string | undefined;
  /** The `key: value` lines under the title or `## Request`: agent, session, call, task, created, status, digest … */
  meta: Readonly<Record<string, string>>;
  /** Labels of `## Proposed Action`: type, command, context, risk level … in their current state. */
  action: Readonly<Record<string, string>>;
  /** Undefined if the last section is not `## Review`. */
  review: Review | undefined;
  problems: Problem[];
}

const TITLE = /^Approval Request:\s*(\S+)$/i;
/** Section with the `key: value` lines of a request. */
export const META_SECTION = 'Request';
export const META = /^([a-z][a-z0-9_]*):[ \t]*(.*)$/;

/** Must not throw. Reads a decision only from the last section, at the start of a line, outside fences and comments. */
export function parseApproval(text: string): ApprovalFile {
  const {sections} = readOutline(text);
  const problems: Problem[] = [];
  const title = sections.find(s => s.depth === 1);
  const named = title && TITLE.exec(title.title)?.[1];
  const id = named !== undefined && isId(named) ? named : undefined;
  if (id === undefined) {
    problems.push(
      problem(
        'BAD_ID',
        {line: title?.line ?? 1, column: 1},
        'expected the title "# Approval Request: ID", found another',
        'restore the title: git checkout -- FILE',
      ),
    );
  }
  const meta = readMeta(
    metaPlaces(text)
      .map(({start, end}) => text.slice(start, end))
      .join('\n'),
  );
  const action = sections.find(s => s.depth === 2 && s.title === 'Proposed Action');
  const last = sections.findLast(s => s.depth <= 2);
  const reviewSection = last?.depth === 2 && last.title === 'Review' ? last : undefined;
  if (!reviewSection) {
    problems.push(
      problem(
        'MISSING_REVIEW',
        {line: last?.line ?? 1, column: 1},
        'expected "## Review" as the last section, found it elsewhere or not at all',
        meta.status === 'pending'
          ? 'delete the page: it comes back as it was asked; or decide in tasks/approvals.task.md'
          : 'put "## Review" with a line "**Decision:** APPROVED" or "**Decision:** REJECTED" at the end',
      ),
    );
  }
  const actionLabels = action ? readLabels(text, action.bodyStart, action.end) : [];
  problems.push(...doubled(text, actionLabels));
  const review = reviewSection && readReview(text, reviewSection, problems);
  return {
    text,
    id,
    meta,
    action: Object.fromEntries(actionLabels.map(label => [label.name, label.value])),
    review,
    problems,
  };
}

/** Labels must be unique, because what runs is the text under its label. */
function doubled(text: string, labels: readonly Label[]): Problem[] {
  const seen = new Set<string>();
  const again = labels.find(({name}) => seen.size === seen.add(name).size);
  if (!again) return [];
  const place = placeAt(lineStarts(text), again.valueStart);
  return [
    problem(
      'DUPLICATE_SECTION',
      place,
      `expected one label "${again.name}" in the request, found a second`,
      'remove one of the two',
    ),
  ];
}

/** Where `key: value` lines stand: below the title, and in the section for them. */
export function metaPlaces(text: string): {start: number; end: number}[] {
  const {sections} = readOutline(text);
  const title = sections.find(({depth}) => depth === 1);
  const first = sections.find(({depth}) => depth === 2);
  const section = sections.find(({depth, title: name}) => depth === 2 && name === META_SECTION);
  return [
    {start: title?.bodyStart ?? 0, end: first?.start ?? text.length},
    ...(section ? [{start: section.bodyStart, end: section.end}] : []),
  ];
}

function readMeta(body: string): Record<string, string> {
  const meta: Record<string, string> = {};
  for (const line of body.split('\n')) {
    const match = META.exec(line.trimEnd());
    if (match?.[1] && !Object.hasOwn(meta, match[1])) meta[match[1]] = match[2] ?? '';
  }
  return meta;
}

export function stringifyApproval(file: ApprovalFile): string {
  return file.text;
}
