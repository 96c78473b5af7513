import {exit, UserError} from '../errors.ts';
import {LABEL, type Label, readLabels, withoutComments} from './approval-labels.ts';
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

/** What runs is what stands under its label, so each label stands once. */
function doubled(text: string, labels: readonly Label[]): Problem[] {
  const again = labels.find((label, i) => labels.findIndex(other => other.name === label.name) !== i);
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

/**
 * A decision written as a list item, a quote, code, a heading or without its label was meant as one: say so instead of
 * waiting in silence. Judged by the letters of the line alone; comments are left out.
 */
function misplaced(text: string, section: Section): Problem[] {
  let wanted = false;
  let comment = false;
  let fence = false;
  let quoting = false;
  let line = section.line;
  for (const raw of text.slice(section.bodyStart, section.end).split('\n')) {
    line++;
    if (comment) {
      comment = !raw.includes('-->');
      continue;
    }
    if (/^ {0,3}(?:```[^`]*|~~~.*)$/.test(raw.trimEnd())) fence = !fence;
    const label = fence ? null : LABEL.exec(raw);
    const words = withoutComments(label ? raw.slice(label[0].length) : raw);
    comment = words.open;
    const blank = words.text.trim() === '';
    // The line below an empty "**Decision:**" is its value.
    const own = wanted && !label && !fence;
    if (label) {
      wanted = blank && /decision/i.test(label[0]);
      quoting = !/decision/i.test(label[0]);
    } else if (!blank) wanted = false;
    // Code under the notes quotes somebody; code where the decision belongs was meant as one.
    if (label || own || (fence && quoting) || words.text.length > 200) continue;
    const letters = words.text.replace(/[^A-Za-z]/g, '');
    if (!/^x?(?:decision)?(?:approved|rejected)$/i.test(letters)) continue;
    const found = JSON.stringify(makeVisible(raw.trim().slice(0, 60)));
    return [
      problem(
        'UNCLEAR_DECISION',
        {line, column: 1},
        `expected the decision on a line of its own, got ${found}`,
        'write just "**Decision:** APPROVED" or "**Decision:** REJECTED"; until then nothing runs',
      ),
    ];
  }
  return [];
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
  if (section?.depth !== 2 || section.title !== 'Review')
    throw new UserError('there is no section "## Review" at the end', exit.badFile, 'restore it: git checkout -- FILE');
  const eol = lineEnd(text);
  const labels = readLabels(text, section.bodyStart, section.end);
  const splices = [];
  let added = '';
  for (const [key, value] of Object.entries(review)) {
    const name = reviewLabels[key as keyof typeof reviewLabels];
    const label = labels.find(l => l.name === name.toLowerCase());
    const line = oneLine(value);
    if (!label) added += `**${name}:** ${line}${eol}`;
    else splices.push({start: label.valueStart, end: label.wordsEnd, insert: ` ${line}`});
  }
  const end = section.end;
  const gap = added && end > 0 && text[end - 1] !== '\n' ? eol : '';
  const edited = splice(text, added ? [...splices, {start: end, end, insert: gap + added}] : splices);
  const {review: read, problems} = parseApproval(edited);
  const wanted = review.decision?.toLowerCase();
  const lost = (key: 'by' | 'at' | 'notes' | 'reason') =>
    review[key] !== undefined && read?.[key] !== (oneLine(review[key]) || undefined);
  if (
    problems.some(p => p.code === 'UNCLEAR_DECISION') ||
    (wanted !== undefined && read?.decision !== wanted) ||
    (['by', 'at', 'notes', 'reason'] as const).some(lost)
  ) {
    throw new UserError(
      'the section "## Review" cannot be filled in without touching the rest of it',
      exit.badFile,
      'write the decision in an editor',
    );
  }
  return edited;
}

/** The text with a `key: value` line under the title set or added. */
export function setMeta(text: string, key: string, words: string): string {
  must(META_KEY, key);
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
  if (!isId(approval.id)) throw new UserError(`${JSON.stringify(approval.id)} is not an id`, exit.badFile);
  for (const key of Object.keys(approval.meta)) must(META_KEY, key);
  for (const part of approval.parts) {
    must(/^[A-Za-z][A-Za-z ]{0,30}$/, part.label);
    must(/^[a-z]*$/, part.language ?? '');
  }
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

const META_KEY = /^[a-z][a-z0-9_]*$/;

/** What could come from an agent must not end its word and begin another. */
function must(pattern: RegExp, word: string): void {
  if (!pattern.test(word) || word.includes('\n'))
    throw new UserError(`${JSON.stringify(word)} is not a name`, exit.badFile);
}

function oneLine(text: string): string {
  const lines = makeVisible(text).split('\n');
  const words = lines.map(line => line.trim()).filter(Boolean);
  return words.join(' ').replaceAll('<!--', '<! --');
}

export function stringifyApproval(file: ApprovalFile): string {
  return file.text;
}
