import {LABEL, type Label, readLabels, withoutComments} from './approval-labels.ts';
import {type Problem, problem} from './diagnostic.ts';
import {lineStarts, placeAt} from './lines.ts';
import type {Section} from './markdown.ts';
import {makeVisible} from './visible.ts';

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

/** The decision and what goes with it; what is unclear goes to `problems`, and decides nothing. */
export function readReview(text: string, section: Section, problems: Problem[]): Review {
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
