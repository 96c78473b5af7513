import {fenced} from '../common/markdown.ts';
import {hideAgain, makeVisible} from '../common/visible.ts';
import {readLabels} from './approval-labels.ts';

/** A person's edit of a text on an approval page. */
export type EditedText = {unchanged: true} | {text: string} | {problem: string};

/** `shown`: current content on the page; undefined if the part is gone. A final newline is kept as in the original. */
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

/** The original as it would be read back from its page. */
function shownText(original: string): string {
  const page = `**Text:**\n${fenced(makeVisible(original))}\n`;
  return readLabels(page, 0, page.length)[0]?.value ?? '';
}
