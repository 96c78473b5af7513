import {Document, isScalar, Scalar, visit} from 'yaml';
import {escapeHidden, jsonText, needsEscape} from '../common/visible.ts';

export const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;

/**
 * YAML text of a value, with "\n" line ends: long texts as literal blocks, times in single quotes, nothing folded, and
 * nothing unquoted that YAML 1.1 readers would misinterpret.
 */
export function yamlText(value: unknown): string {
  const doc = new Document(value, {compat: 'yaml-1.1', aliasDuplicateObjects: false});
  visit(doc, {
    Scalar(key, node) {
      if (typeof node.value !== 'string') return;
      if (key !== 'key') node.type = scalarType(node.value);
      else if (node.value.includes('\n') || needsEscape(node.value)) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return escapeHidden(doc.toString({lineWidth: 0, singleQuote: true, flowCollectionPadding: false}));
}

function scalarType(text: string): Scalar.Type {
  if (needsEscape(text)) return Scalar.QUOTE_DOUBLE;
  const newline = text.indexOf('\n');
  // A block with a blank first line would lose that line's spaces.
  if (newline !== -1) return text.slice(0, newline).trim() === '' ? Scalar.QUOTE_DOUBLE : Scalar.BLOCK_LITERAL;
  if (TIME.test(text)) return Scalar.QUOTE_SINGLE;
  return Scalar.PLAIN;
}

/** Indent all non-empty lines and use the file's line ends. */
export function indentLines(text: string, indent: string, eol: string): string {
  const lines = text.split('\n').map(line => (line === '' ? line : indent + line));
  return lines.join(eol);
}

/** Text of a scalar in the quoting style of the old one. */
export function scalarText(value: unknown, old: unknown): string | undefined {
  if (typeof value === 'object' && value !== null) return undefined;
  if (typeof value === 'string' && isScalar(old) && !value.includes('\n') && !needsEscape(value)) {
    if (old.type === Scalar.QUOTE_SINGLE) return `'${value.replaceAll("'", "''")}'`;
    if (old.type === Scalar.QUOTE_DOUBLE) return jsonText(value);
  }
  return undefined;
}
