import {type Place, type Problem, problem} from '../common/diagnostic.ts';
import {lineStarts, placeAt} from '../common/lines.ts';
import type {Section} from '../common/markdown.ts';
import {makeVisible} from '../common/visible.ts';
import {readGrants, type WrittenGrants} from './approval-grants.ts';
import {fenceOf, isClosingFence, LABEL, type Label, readLabels, withoutComments} from './approval-labels.ts';

export type Decision = 'approved' | 'rejected';

/** Content of `## Review`. */
export interface Review {
  decision: Decision | undefined;
  by: string | undefined;
  at: string | undefined;
  notes: string | undefined;
  reason: string | undefined;
  always: boolean;
  /** Answer to a question. */
  answer: string | undefined;
  /** Permissions that the person grants beyond those asked for. */
  grants?: WrittenGrants;
}

/** Read the review. Unclear decisions are added to `problems` and decide nothing. */
export function readReview(text: string, section: Section, problems: Problem[]): Review {
  const labels = readLabels(text, section.bodyStart, section.end);
  const value = (name: string) => labels.find(label => label.name === name && label.words !== '')?.words;
  const decisions = new Set<Decision>();
  const doubts: string[] = [];
  for (const label of labels.filter(l => l.name === 'decision' && l.words !== '')) {
    const word = /^[*_`]*(approved|rejected)[.!]?[*_`]*$/i.exec(label.words)?.[1]?.toLowerCase();
    if (word) decisions.add(word as Decision);
    else doubts.push(`expected APPROVED or REJECTED, got "${makeVisible(label.words.slice(0, 60))}"`);
  }
  if (decisions.size > 1) doubts.push('expected one decision, found both APPROVED and REJECTED');
  const [answer, next] = readAnswers(text, labels, section.end);
  const second = decisions.has('approved') ? next : undefined;
  if (second)
    problems.push(
      problem(
        'UNCLEAR_DECISION',
        placeAt(lineStarts(text), second.start),
        'expected one answer, found a second',
        'put all of it behind one "**Answer:**"; until then nothing runs',
      ),
    );
  const odd = misplaced(text, section, decisions);
  const [doubt] = doubts;
  const line = section.line;
  const grants = readGrants(value);
  if (doubt)
    problems.push(unclear(placeAt(lineStarts(text), labels.find(l => l.name === 'decision')?.valueStart ?? 0), doubt));
  else if (odd)
    problems.push(
      unclear({line: line + odd.line, column: 1}, `expected the decision on a line of its own, got ${odd.found}`),
    );
  return {
    decision: doubt || odd || second ? undefined : [...decisions][0],
    by: value('reviewed by'),
    at: value('reviewed at'),
    notes: value('notes'),
    reason: value('reason'),
    always: isYes(value('always')),
    answer: answer?.text,
    ...(grants && {grants}),
  };
}

const ENDS_ANSWER = ['decision', 'notes', 'reason', 'always', 'answer', 'reviewed by', 'reviewed at'];

/**
 * Answers as written: all text between the label and the next review label, including fences, comments and bold words.
 * A label without asterisks ends only an answer without asterisks; a decision ends any.
 */
function readAnswers(text: string, labels: readonly Label[], end: number): {text: string; start: number}[] {
  const isBold = ({start, valueStart}: Label) => text.slice(start, valueStart).includes('**');
  return labels.flatMap((label, i) => {
    if (label.name !== 'answer') return [];
    const next = labels
      .slice(i + 1)
      .find(each => ENDS_ANSWER.includes(each.name) && (isBold(each) || !isBold(label) || each.name === 'decision'));
    const written = text
      .slice(label.valueStart, next?.start ?? end)
      .replaceAll('\r\n', '\n')
      .trim();
    return written.replace(/<!--.*?(?:-->|$)/gs, '').trim() === '' ? [] : [{text: written, start: label.start}];
  });
}

/** Value of `always`, on the page or in the queue. */
export function isYes(words = ''): boolean {
  return /^(?:true|yes)$/i.test(words.trim());
}

function unclear(place: Place, message: string): Problem {
  return problem(
    'UNCLEAR_DECISION',
    place,
    message,
    'write just one line "**Decision:** APPROVED" or "**Decision:** REJECTED"; until then nothing runs',
  );
}

/** Lines that begin like a decision, whatever is around it; and lines whose first word rejects. */
const DECIDES = /^[^A-Za-z]*(?:x[^A-Za-z]+)?(?:(?:decision|verdict)[^A-Za-z]+)?(?:approved?|rejected?)(?![A-Za-z])/i;
const REJECTS =
  /^[^A-Za-z]*(?:x[^A-Za-z]+)?(?:(?:[Dd]ecision|DECISION|[Vv]erdict)[^A-Za-z]+)?REJECT(?:ED)?(?![A-Za-z])/;

/**
 * Find a decision written as a list item, quote, code or heading, in a comment or without its label, to report it
 * instead of waiting silently. Notes may mention approval, but must not reject what the decision approves.
 */
function misplaced(
  text: string,
  section: Section,
  decisions: ReadonlySet<Decision>,
): {line: number; found: string} | undefined {
  const approved = decisions.has('approved');
  let label = '';
  let comment = false;
  let fence: string | undefined;
  let opened = 0;
  let line = 0;
  for (const raw of text.slice(section.bodyStart, section.end).split('\n')) {
    line++;
    if (comment) {
      comment = !raw.includes('-->');
      continue;
    }
    if (fence !== undefined ? isClosingFence(raw.trimEnd(), fence) : fenceOf(raw) !== undefined) {
      fence = fence === undefined ? fenceOf(raw) : undefined;
      opened = line;
      continue;
    }
    const found = fence === undefined ? LABEL.exec(raw) : null;
    if (found)
      label = found[0]
        .replace(/[^A-Za-z ]/g, '')
        .trim()
        .toLowerCase();
    const words = withoutComments(found ? raw.slice(found[0].length) : raw);
    comment = words.open;
    const inComment =
      label === 'decision' &&
      /^[^A-Za-z]*(?:x[^A-Za-z]+)?(?:approved|rejected)[^A-Za-z]*$|\[x\]/i.test(words.comments.slice(0, 200));
    const own = label === 'decision' && fence === undefined;
    const quoted = ['notes', 'reason', 'reviewed by', 'reviewed at', 'always', 'answer'].includes(label);
    const start = words.text.slice(0, 200);
    const says =
      found && !own && !quoted
        ? DECIDES.test(label) || DECIDES.test(start)
        : !own && (!quoted ? DECIDES.test(start) : fence === undefined && approved && REJECTS.test(start));
    if (inComment || says) return {line, found: JSON.stringify(makeVisible(raw.trim().slice(0, 60)))};
  }
  // Everything below an open fence is code, including a decision.
  if (fence !== undefined && decisions.size === 0) return {line: opened, found: 'a fence that is not closed'};
  return undefined;
}
