import {Lexer} from 'yaml';
import {nodeAt, type Path, type YamlSource} from './yaml-source.ts';

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
