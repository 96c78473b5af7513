import {isDeepStrictEqual} from 'node:util';
import {isSeq, type ParsedNode, type YAMLSeq} from 'yaml';
import {UserError} from '../common/errors.ts';
import {lineEnd, splice} from '../common/lines.ts';
import {visibleLine} from '../common/visible.ts';
import {keepsComments} from './yaml-comments.ts';
import {nodeAt, type Path, readYaml} from './yaml-source.ts';

/** Put `# comment` on a line above the last item of a list. Changes nothing else. Throws UserError if it cannot. */
export function commentLastItem(text: string, list: Path, comment: string): string {
  const source = readYaml(text);
  const node = nodeAt(source.root, list)?.node;
  const seq = isSeq(node) ? (node as YAMLSeq.Parsed) : undefined;
  const item = seq?.items.at(-1) as ParsedNode | undefined;
  if (seq && item) {
    // An anchor or tag comes before the start of a node, and a dash before every item of a block list.
    const at = seq.flow ? item.range[0] : text.lastIndexOf('-', item.range[0] - 1);
    const lineStart = text.lastIndexOf('\n', at - 1) + 1;
    const before = text.slice(lineStart, at);
    const alone = /^\ufeff?[ \t]*$/.test(before);
    const indent = alone ? before.replace('\ufeff', '') : `${/^\ufeff?( *)/.exec(before)?.[1] ?? ''}    `;
    const eol = lineEnd(text);
    const words = `# ${visibleLine(comment)}${eol}${indent}`;
    // Remove trailing spaces of the line that is split.
    const start = alone ? at : lineStart + before.trimEnd().length;
    const edited = splice(text, [{start, end: at, insert: alone ? words : `${eol}${indent}${words}`}]);
    const again = readYaml(edited);
    if (
      again.problems.length === 0 &&
      isDeepStrictEqual(again.value, source.value) &&
      keepsComments(source, edited, undefined)
    )
      return edited;
  }
  throw new UserError(`cannot add a comment to ${list.join('.')} here`, 4, 'make the change in an editor');
}
