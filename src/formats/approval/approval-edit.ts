import {exit, UserError} from '../common/errors.ts';
import {lineEnd, splice} from '../common/lines.ts';
import {fenced, readOutline} from '../common/markdown.ts';
import {isId} from '../common/values.ts';
import {makeVisible} from '../common/visible.ts';
import {type ApprovalRisk, type ApprovalType, META, META_SECTION, metaPlaces, parseApproval} from './approval.ts';
import {GRANT_WORDS, type GrantLine} from './approval-grants.ts';
import {fenceOf, isClosingFence, readLabels} from './approval-labels.ts';

const reviewLabels = {
  decision: 'Decision',
  notes: 'Notes',
  by: 'Reviewed by',
  at: 'Reviewed at',
  reason: 'Reason',
  always: 'Always',
  answer: 'Answer',
} as const;

/** Write values under `## Review`; only their lines change. */
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
    // An answer is passed to the agent as it was given.
    const given = makeVisible(value).trim();
    const line =
      key === 'answer' ? (given.includes('\n') ? `\n${given}` : given).replaceAll('\n', eol) : oneLine(value);
    if (!label) added += `**${name}:** ${line}${eol}`;
    else splices.push({start: label.valueStart, end: label.wordsEnd, insert: ` ${line}`});
  }
  const end = section.end;
  const gap = added && end > 0 && text[end - 1] !== '\n' ? eol : '';
  const edited = splice(text, added ? [...splices, {start: end, end, insert: gap + added}] : splices);
  const {review: read, problems} = parseApproval(edited);
  const wanted = review.decision?.toLowerCase();
  const bare = (words: string) => words.replaceAll('`', '');
  const lost = (key: 'by' | 'at' | 'notes' | 'reason') =>
    review[key] !== undefined && bare(read?.[key] ?? '') !== bare(oneLine(review[key]));
  if (
    problems.some(p => p.code === 'UNCLEAR_DECISION') ||
    (wanted !== undefined && read?.decision !== wanted) ||
    (['by', 'at', 'notes', 'reason'] as const).some(lost) ||
    (review.answer !== undefined && read?.answer !== makeVisible(review.answer).trim())
  ) {
    throw new UserError(
      'the section "## Review" cannot be filled in without touching the rest of it',
      exit.badFile,
      'write the decision in an editor',
    );
  }
  return edited;
}

/**
 * Set a `key: value` line, where it stands or else below the title, or with `below` at the end of `## Request`, if there is one. `words`
 * undefined: remove it.
 */
export function setMeta(text: string, key: string, words: string | undefined, below = false): string {
  must(META_KEY, key);
  const value = oneLine(words ?? '');
  const places = metaPlaces(text);
  const eol = lineEnd(text);
  const place = below ? places.at(-1) : places[0];
  let after = place?.start ?? 0;
  for (const {start: from, end: to} of places)
    for (let start = from; start < to; ) {
      const newline = text.indexOf('\n', start);
      const end = newline === -1 ? text.length : newline;
      const stop = text[end - 1] === '\r' ? end - 1 : end;
      const match = META.exec(text.slice(start, stop).trimEnd());
      if (match?.[1] === key)
        return words === undefined
          ? splice(text, [{start, end: Math.min(end + 1, to), insert: ''}])
          : splice(text, [{start, end: stop, insert: `${key}: ${value}`}]);
      if (match && from === place?.start) after = Math.min(end + 1, text.length);
      start = end + 1;
    }
  if (words === undefined) return text;
  const gap = after > 0 && text[after - 1] !== '\n' ? eol : '';
  return splice(text, [{start: after, end: after, insert: `${gap}${key}: ${value}${eol}`}]);
}

/**
 * Replace the content of the fence under a label of `## Proposed Action`; only the fence changes. A trailing newline
 * does not count, as in reading. Throws unless the result reads back as `words`.
 */
export function setPart(text: string, name: string, words: string): string {
  const action = readOutline(text).sections.find(s => s.depth === 2 && s.title === 'Proposed Action');
  const label = action && readLabels(text, action.bodyStart, action.end).find(l => l.name === name.toLowerCase());
  const fence = label && fenceBelow(text, label.valueStart, action.end);
  const shown = makeVisible(words);
  const wanted = shown.endsWith('\n') ? shown.slice(0, -1) : shown;
  const insert = fence && fenced(shown, fence.language).replaceAll('\n', lineEnd(text));
  const edited = fence && splice(text, [{start: fence.start, end: fence.end, insert: insert ?? ''}]);
  const after = edited === undefined ? undefined : parseApproval(edited);
  const others = (actions: Readonly<Record<string, string>>) => JSON.stringify({...actions, [name.toLowerCase()]: ''});
  if (
    edited === undefined ||
    after?.action[name.toLowerCase()] !== wanted ||
    others(after.action) !== others(parseApproval(text).action)
  )
    throw new UserError(
      `what stands under "${name}" cannot be replaced without touching the rest of the page`,
      exit.badFile,
      'edit it in an editor',
    );
  return edited;
}

/** First fence after `from`, from its opening mark to the end of its closing line. */
export function fenceBelow(
  text: string,
  from: number,
  to: number,
): {start: number; end: number; language: string} | undefined {
  let open: {start: number; mark: string; language: string} | undefined;
  for (let at = text.indexOf('\n', from) + 1; at > 0 && at < to; ) {
    const newline = text.indexOf('\n', at);
    const end = newline === -1 || newline >= to ? to : newline;
    const line = text.slice(at, end).replace(/\r$/, '');
    if (open && isClosingFence(line, open.mark))
      return {start: open.start, end: at + line.length, language: open.language};
    const mark = open ? undefined : fenceOf(line);
    if (mark !== undefined)
      open = {start: at, mark, language: /[a-z]*/.exec(line.trim().slice(mark.length))?.[0] ?? ''};
    at = end + 1;
  }
  return undefined;
}

export interface NewApproval {
  id: string;
  /** Who asks for what, in a sentence without words of an agent. */
  summary?: string;
  meta: Readonly<Record<string, string>>;
  type: ApprovalType;
  /** The request. All of it may come from an agent, so all of it is fenced. */
  parts: readonly {label: string; text: string; language?: string}[];
  risk: ApprovalRisk;
  factors: readonly string[];
  /** It is a question, with a place for the answer. */
  question?: boolean;
  /** Lines by which the person may grant more. */
  grants?: readonly GrantLine[];
}

/** Page of a new request: everything needed to decide, then the section for the decision. */
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
  const grants = (approval.grants ?? []).map(
    line => `<!-- To approve it ${GRANT_WORDS[line]}, also write this line here, outside the comment:\n${line}\n-->\n`,
  );
  return `# Approval Request: ${approval.id}
${oneLine(approval.summary ?? 'This waits for your approval.')} Risk: ${approval.risk}. Decide at the end, under Review.

## Proposed Action

${parts.join('\n')}
**Type:** ${approval.type}

**Risk Level:** ${approval.risk}
${factors.join('\n')}

## ${META_SECTION}

${meta.join('\n')}

## Review

<!-- Human: edit this section to approve or reject, and save. Nothing above this section is read as a decision. -->

${approval.question ? '**Answer:**\n\n' : ''}**Decision:** <!-- ${approval.question ? 'APPROVED, with your answer above | REJECTED: no answer' : 'APPROVED | REJECTED'} -->

${grants.length > 0 ? `${grants.join('')}\n` : ''}**Notes:**
<!-- Add any notes here -->

**Reviewed by:**
**Reviewed at:**
`;
}

const META_KEY = /^[a-z][a-z0-9_]*$/;

/** Text that could come from an agent must not break out of its place. */
function must(pattern: RegExp, word: string): void {
  if (!pattern.test(word) || word.includes('\n'))
    throw new UserError(`${JSON.stringify(word)} is not a name`, exit.badFile);
}

function oneLine(text: string): string {
  const lines = makeVisible(text).split('\n');
  const words = lines.map(line => line.trim()).filter(Boolean);
  return words.join(' ').replaceAll('<!--', '<! --');
}
