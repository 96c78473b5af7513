import {closesFence, fenceOf, LABEL, readLabels, withoutComments} from './approval-labels.ts';
import {type Place, type Problem, problem} from './diagnostic.ts';
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
  const value = (name: string) => labels.find(label => label.name === name && label.words !== '')?.words;
  const decisions = new Set<Decision>();
  const doubts: string[] = [];
  for (const label of labels.filter(l => l.name === 'decision' && l.words !== '')) {
    const word = /^[*_`]*(approved|rejected)[.!]?[*_`]*$/i.exec(label.words)?.[1]?.toLowerCase();
    if (word) decisions.add(word as Decision);
    else doubts.push(`expected APPROVED or REJECTED, got "${makeVisible(label.words.slice(0, 60))}"`);
  }
  if (decisions.size > 1) doubts.push('expected one decision, found both APPROVED and REJECTED');
  const odd = misplaced(text, section, decisions.has('approved'));
  const [doubt] = doubts;
  const line = section.line;
  if (doubt)
    problems.push(unclear(placeAt(lineStarts(text), labels.find(l => l.name === 'decision')?.valueStart ?? 0), doubt));
  else if (odd)
    problems.push(
      unclear({line: line + odd.line, column: 1}, `expected the decision on a line of its own, got ${odd.found}`),
    );
  return {
    decision: doubt || odd ? undefined : [...decisions][0],
    by: value('reviewed by'),
    at: value('reviewed at'),
    notes: value('notes'),
    reason: value('reason'),
    always: /^(true|yes)$/i.test(value('always') ?? ''),
  };
}

function unclear(place: Place, message: string): Problem {
  return problem(
    'UNCLEAR_DECISION',
    place,
    message,
    'write just one line "**Decision:** APPROVED" or "**Decision:** REJECTED"; until then nothing runs',
  );
}

/** A line that begins like a decision, whatever stands around it; and one whose first word rejects. */
const DECIDES = /^[^A-Za-z]*(?:x[^A-Za-z]+)?(?:(?:decision|verdict)[^A-Za-z]+)?(?:approved?|rejected?)(?![A-Za-z])/i;
const REJECTS =
  /^[^A-Za-z]*(?:x[^A-Za-z]+)?(?:(?:[Dd]ecision|DECISION|[Vv]erdict)[^A-Za-z]+)?REJECT(?:ED)?(?![A-Za-z])/;

/**
 * A decision written as a list item, a quote, code, a heading, in a comment or without its label was meant as one: say
 * so instead of waiting in silence. Notes may speak of approval, but not reject what the decision approves.
 */
function misplaced(text: string, section: Section, approved: boolean): {line: number; found: string} | undefined {
  let label = '';
  let comment = false;
  let fence: string | undefined;
  let line = 0;
  for (const raw of text.slice(section.bodyStart, section.end).split('\n')) {
    line++;
    if (comment) {
      comment = !raw.includes('-->');
      continue;
    }
    if (fence !== undefined ? closesFence(raw.trimEnd(), fence) : fenceOf(raw) !== undefined) {
      fence = fence === undefined ? fenceOf(raw) : undefined;
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
    const quoted = ['notes', 'reason', 'reviewed by', 'reviewed at', 'always'].includes(label);
    const start = words.text.slice(0, 200);
    const says =
      found && !own && !quoted
        ? DECIDES.test(label) || DECIDES.test(start)
        : !own && (!quoted ? DECIDES.test(start) : fence === undefined && approved && REJECTS.test(start));
    if (inComment || says) return {line, found: JSON.stringify(makeVisible(raw.trim().slice(0, 60)))};
  }
  return undefined;
}
