import {fenced} from '../common/markdown.ts';
import {hideAgain, makeVisible} from '../common/visible.ts';
import {readLabels} from './approval-labels.ts';

/** What a person made of a text that an approval page shows, and that they may change. */
export type EditedText = {unchanged: true} | {text: string} | {problem: string};

/**
 * `shown`: what the page has there now; undefined if the part is gone. A fence does not tell whether the last line has an
 * end: it stays as it was.
 */
export function editedText(original: string, shown: string | undefined): EditedText {
  if (shown === undefined) return {problem: 'what was asked is no longer there'};
  if (shown === shownText(original)) return {unchanged: true};
  const text = hideAgain(shown, original);
  if (text === undefined)
    return {
      problem: 'it has words such as ⟨U+202E⟩ that may be characters which cannot be seen: take them out',
    };
  return {text: original === '' || original.endsWith('\n') ? `${text}\n` : text};
}

/** A text as it is read from the page that was made of it. */
function shownText(original: string): string {
  const page = `**Text:**\n${fenced(makeVisible(original))}\n`;
  return readLabels(page, 0, page.length)[0]?.value ?? '';
}
