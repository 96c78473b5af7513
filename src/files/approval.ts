import {type Label, readLabels} from './approval-labels.ts';
import {type Problem, problem} from './diagnostic.ts';
import {lineEnd, lineStarts, placeAt, splice} from './lines.ts';
import {fenced, readOutline, type Section} from './markdown.ts';
import {isId} from './values.ts';
import {makeVisible} from './visible.ts';

export const approvalTypes = [
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
export const risks = ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'] as const;
export type Risk = (typeof risks)[number];

export type Decision = 'approved' | 'rejected';

/** What the person wrote under `## Review`. */
export interface Review {
  decision: Decision | undefined;
  by: string | undefined;
  at: string | undefined;
  notes: string | undefined;
  reason: string | undefined;
  always: boolean;
}

/** approvals/…/<id>.approval.md */
export interface ApprovalFile {
  text: string;
  id: string | undefined;
  /** The `key: value` lines under the title: agent, session, call, task, created, status, digest … */
  meta: Readonly<Record<string, string>>;
  /** The labels of `## Proposed Action`: type, command, context, risk level … as they stand now, edits included. */
  action: Readonly<Record<string, string>>;
  /** Undefined if the last section is not `## Review`. */
  review: Review | undefined;
  problems: Problem[];
}

const TITLE = /^Approval Request:\s*(\S+)$/i;
const META = /^([a-z][a-z0-9_]*):[ \t]*(.*)$/;

/** Must not throw. A decision is read from the last section alone, at the beginning of a line, outside fences and comments. */
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
  const first = sections.find(s => s.depth === 2);
  const meta = readMeta(text.slice(title?.bodyStart ?? 0, first?.start ?? text.length));
  const action = sections.find(s => s.depth === 2 && s.title === 'Proposed Action');
  const last = sections.findLast(s => s.depth <= 2);
  const reviewSection = last?.depth === 2 && last.title === 'Review' ? last : undefined;
  if (!reviewSection) {
    problems.push(
      problem(
        'MISSING_REVIEW',
        {line: last?.line ?? 1, column: 1},
        'expected "## Review" as the last section, found it elsewhere or not at all',
        'put "## Review" with a line "**Decision:** APPROVED" or "**Decision:** REJECTED" at the end',
      ),
    );
  }
  const actionLabels = action ? readLabels(text, action.bodyStart, action.end) : [];
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

function readMeta(body: string): Record<string, string> {
  const meta: Record<string, string> = {};
  for (const line of body.split('\n')) {
    const match = META.exec(line.trimEnd());
    if (match?.[1] && !Object.hasOwn(meta, match[1])) meta[match[1]] = match[2] ?? '';
  }
  return meta;
}

function readReview(text: string, section: Section, problems: Problem[]): Review {
  const labels = readLabels(text, section.bodyStart, section.end);
  problems.push(...misplaced(text, section));
  const value = (name: string) => labels.find(label => label.name === name && label.words !== '')?.words;
  const decisions = new Set<Decision>();
  for (const label of labels.filter(l => l.name === 'decision' && l.words !== '')) {
    const word = /^[*_`]*(approved|rejected)[.!]?[*_`]*$/i.exec(label.words)?.[1]?.toLowerCase();
    if (word) decisions.add(word as Decision);
    else
      problems.push(
        unclear(text, label, `expected APPROVED or REJECTED, got "${makeVisible(label.words.slice(0, 60))}"`),
      );
  }
  if (decisions.size > 1) {
    const label = labels.findLast(l => l.name === 'decision');
    if (label) problems.push(unclear(text, label, 'expected one decision, found both APPROVED and REJECTED'));
  }
  const decided = problems.some(p => p.code === 'UNCLEAR_DECISION') ? undefined : [...decisions][0];
  return {
    decision: decided,
    by: value('reviewed by'),
    at: value('reviewed at'),
    notes: value('notes'),
    reason: value('reason'),
    always: /^(true|yes)$/i.test(value('always') ?? ''),
  };
}

/** A decision written as a list item, a quote or code, or without its label, was meant as one: say so instead of waiting. */
const MISPLACED =
  /^(?:[ \t]*(?:(?:[-+*]|\d+[.)])[ \t]+|>[ \t>]*)| {4,}|\t[ \t]*)[*_`]*decision[*_`]*\s*:[*_`\s]*(?:approved|rejected)|^[ \t]*[*_`]*(?:approved|rejected)[*_`.!]*[ \t]*$/i;

function misplaced(text: string, section: Section): Problem[] {
  const found: Problem[] = [];
  let labelled = false;
  let comment = false;
  let line = section.line;
  for (const raw of text.slice(section.bodyStart, section.end).split('\n')) {
    line++;
    const content = raw.trimEnd();
    const hidden: boolean = comment || content.trimStart().startsWith('<!--');
    comment = hidden && !content.includes('-->');
    // The line below an empty "**Decision:**" is its value.
    const own = labelled && !/^\s*$/.test(content);
    labelled = /^ {0,3}(?:\*\*)?Decision\s*:?(?:\*\*)?:?\s*$/i.test(content) || (labelled && /^\s*$/.test(content));
    if (hidden || own || !MISPLACED.test(content) || found.length > 0) continue;
    found.push(
      problem(
        'UNCLEAR_DECISION',
        {line, column: 1},
        `expected the decision on a line of its own, got ${JSON.stringify(makeVisible(content.slice(0, 60)))}`,
        'write just "**Decision:** APPROVED" or "**Decision:** REJECTED"; until then nothing runs',
      ),
    );
  }
  return found;
}

function unclear(text: string, label: Label, message: string): Problem {
  return problem(
    'UNCLEAR_DECISION',
    placeAt(lineStarts(text), label.valueStart),
    message,
    'write just one line "**Decision:** APPROVED" or "**Decision:** REJECTED"; until then nothing runs',
  );
}

const reviewLabels = {
  decision: 'Decision',
  notes: 'Notes',
  by: 'Reviewed by',
  at: 'Reviewed at',
  reason: 'Reason',
  always: 'Always',
} as const;

/** The text with values written under `## Review`; only their lines differ. */
export function setReview(text: string, review: Partial<Record<keyof typeof reviewLabels, string>>): string {
  const section = readOutline(text).sections.findLast(s => s.depth <= 2);
  if (section?.depth !== 2 || section.title !== 'Review') return text;
  const eol = lineEnd(text);
  const labels = readLabels(text, section.bodyStart, section.end);
  const splices = [];
  let added = '';
  for (const [key, value] of Object.entries(review)) {
    const name = reviewLabels[key as keyof typeof reviewLabels];
    const label = labels.find(l => l.name === name.toLowerCase());
    const line = makeVisible(value)
      .replace(/\s*\n\s*/g, ' ')
      .trim();
    if (!label) added += `**${name}:** ${line}${eol}`;
    else splices.push({start: label.valueStart, end: label.wordsEnd, insert: ` ${line}`});
  }
  const end = section.end;
  const gap = added && end > 0 && text[end - 1] !== '\n' ? eol : '';
  return splice(text, added ? [...splices, {start: end, end, insert: gap + added}] : splices);
}

/** The text with a `key: value` line under the title set or added. */
export function setMeta(text: string, key: string, words: string): string {
  const value = oneLine(words);
  const {sections} = readOutline(text);
  const title = sections.find(s => s.depth === 1);
  const from = title?.bodyStart ?? 0;
  const to = sections.find(s => s.depth === 2)?.start ?? text.length;
  const eol = lineEnd(text);
  let after = from;
  for (let start = from; start < to; ) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    const stop = text[end - 1] === '\r' ? end - 1 : end;
    const match = META.exec(text.slice(start, stop).trimEnd());
    if (match?.[1] === key) return splice(text, [{start, end: stop, insert: `${key}: ${value}`}]);
    if (match) after = Math.min(end + 1, text.length);
    start = end + 1;
  }
  const gap = after > 0 && text[after - 1] !== '\n' ? eol : '';
  return splice(text, [{start: after, end: after, insert: `${gap}${key}: ${value}${eol}`}]);
}

export interface NewApproval {
  id: string;
  meta: Readonly<Record<string, string>>;
  type: ApprovalType;
  /** Heading and text of what is asked for; all of it may come from an agent, so all of it is fenced. */
  parts: readonly {label: string; text: string; language?: string}[];
  risk: Risk;
  factors: readonly string[];
}

/** Everything a person needs to decide, then the one place where they do. */
export function newApproval(approval: NewApproval): string {
  const meta = Object.entries(approval.meta).map(([key, value]) => `${key}: ${oneLine(value)}`);
  const parts = approval.parts.map(part => `**${part.label}:**\n${fenced(makeVisible(part.text), part.language)}\n`);
  const factors = approval.factors.map(factor => `- ${oneLine(factor)}`);
  return `# Approval Request: ${approval.id}
${meta.join('\n')}

## Proposed Action

**Type:** ${approval.type}

${parts.join('\n')}
**Risk Level:** ${approval.risk}
${factors.join('\n')}

## Review

<!-- Human: edit this section to approve or reject, and save. Nothing above this section is read as a decision. -->

**Decision:** <!-- APPROVED | REJECTED -->

**Notes:**
<!-- Add any notes here -->

**Reviewed by:**
**Reviewed at:**
`;
}

function oneLine(text: string): string {
  return makeVisible(text)
    .replace(/\s*\n\s*/g, ' ')
    .trim();
}

export function stringifyApproval(file: ApprovalFile): string {
  return file.text;
}
