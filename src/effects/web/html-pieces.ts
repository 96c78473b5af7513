/** A text or a tag in HTML. Comments and declarations are skipped. */
export interface Piece {
  from: number;
  to: number;
  /** Tag name in lower case; undefined for text. */
  name?: string;
  closing?: boolean;
}

/** Elements whose content is not markup. */
const raw = /^(script|style|textarea|title|xmp|iframe|noembed|noframes|plaintext)$/;
const letter = /[a-zA-Z]/;
const nameAt = /[^\s/>]+/y;

/** Split HTML into pieces, in order. Takes linear time for any text. */
export function* pieces(html: string): Generator<Piece> {
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    if (open < 0) {
      yield {from: at, to: html.length};
      return;
    }
    const closing = html[open + 1] === '/';
    const start = open + (closing ? 2 : 1);
    if (letter.test(html[start] ?? '')) {
      if (open > at) yield {from: at, to: open};
      const to = tagEnd(html, start);
      nameAt.lastIndex = start;
      const name = (nameAt.exec(html)?.[0] ?? '').toLowerCase();
      // An unterminated tag is ignored, with all that follows.
      if (to === undefined) return;
      yield {from: open, to, name, closing};
      at = to;
      if (closing || !raw.test(name)) continue;
      const end = new RegExp(`</${name}(?=[\\s/>])`, 'gi');
      end.lastIndex = to;
      at = end.exec(html)?.index ?? html.length;
      if (at > to) yield {from: to, to: at};
    } else if (html[start] === '!' || html[start] === '?' || closing) {
      if (open > at) yield {from: at, to: open};
      const comment = html.startsWith('<!--', open);
      const end = html.indexOf(comment ? '-->' : '>', comment ? open + 2 : start);
      at = end < 0 ? html.length : end + (comment ? 3 : 1);
    } else {
      yield {from: at, to: start};
      at = start;
    }
  }
}

/** Offset after the `>` of a tag; a quote counts only at the start of a value. */
function tagEnd(html: string, from: number): number | undefined {
  let value = false;
  for (let at = from; at < html.length; at++) {
    const character = html[at];
    if (character === '>') return at + 1;
    if (value && (character === '"' || character === "'")) {
      const end = html.indexOf(character, at + 1);
      if (end < 0) return undefined;
      at = end;
      value = false;
    } else if (character === '=') value = true;
    else if (character !== ' ' && character !== '\n' && character !== '\t' && character !== '\r') value = false;
  }
  return undefined;
}
