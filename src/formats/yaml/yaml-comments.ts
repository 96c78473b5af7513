import {isDeepStrictEqual} from 'node:util';
import {isSeq, Lexer, type ParsedNode, type YAMLSeq} from 'yaml';
import {UserError} from '../common/errors.ts';
import {lineEnd, splice} from '../common/lines.ts';
import {visibleLine} from '../common/visible.ts';
import {nodeAt, type Path, readYaml, type YamlSource} from './yaml-source.ts';

/** Whether no comment is lost, except those on the lines of a removed key. */
export function keepsComments(source: YamlSource, edited: string, removed: Path | undefined): boolean {
  const left = commentsOf(edited);
  let lost = commentsOf(source.text).filter(comment => {
    const at = left.indexOf(comment);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
  if (lost.length > 0 && removed) {
    const found = nodeAt(source.root, removed);
    const line = lineAt(source.text, found?.key?.range[0] ?? 0);
    lost = lost.filter(comment => !line.endsWith(comment));
  }
  return lost.length === 0;
}

function lineAt(text: string, offset: number): string {
  const end = text.indexOf('\n', offset);
  return text.slice(text.lastIndexOf('\n', offset - 1) + 1, end === -1 ? text.length : end).trimEnd();
}

function commentsOf(text: string): string[] {
  const comments: string[] = [];
  if (text.includes('#'))
    for (const token of new Lexer().lex(text)) if (token.startsWith('#')) comments.push(token.trimEnd());
  return comments;
}

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
