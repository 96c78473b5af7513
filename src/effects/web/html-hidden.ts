import type {Piece} from './html-pieces.ts';
import {hiddenStyle, unseenElements} from './html-visible.ts';

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '));

/** Elements without content. */
export const emptyElements = words('area base br col embed hr img input link meta source track wbr');
/** Elements that the next such element closes, unless it is inside a list or table of its own. */
export const itemElements = words('li dt dd option optgroup tr td th thead tbody tfoot colgroup rb rt rp rtc');
const holders = words('ul ol menu dl table select ruby');
/** Block elements close an open paragraph. */
const blocks = words(
  'address article aside blockquote details div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li main menu nav ol p pre section table ul',
);

/**
 * Returns a function that says for each piece, in order, whether it is in a hidden element. Works on tags alone, for
 * pages that are too deep or too large for a tree. If the end of an element is uncertain, hides more rather than less.
 * `mayBegin`: whether a hidden element may begin here.
 */
export function hiding(html: string): (piece: Piece, mayBegin?: boolean) => boolean {
  let hidden: string | undefined;
  let inner = 0;
  const begins = ({from, to, name, closing}: Piece): boolean => {
    hidden = !name || closing || emptyElements.has(name) || !isHidden(name, html.slice(from, to)) ? undefined : name;
    inner = 0;
    return hidden !== undefined;
  };
  return (piece, mayBegin = true) => {
    const {name, closing = false} = piece;
    if (hidden === undefined) return mayBegin && begins(piece);
    if (name === undefined) return true;
    const isItem = itemElements.has(hidden);
    if (hidden === 'p' && !closing && blocks.has(name)) return begins(piece);
    // The end of the surrounding list or table also ends the item.
    if (isItem && inner === 0 && closing && holders.has(name)) return begins(piece);
    if (isItem && inner === 0 && !closing && name === hidden) return begins(piece);
    if (name === hidden && closing && inner === 0) hidden = undefined;
    else if (isItem ? holders.has(name) : name === hidden) inner += closing ? -1 : 1;
    return true;
  };
}

const styled = /\sstyle\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))/i;

function isHidden(name: string, tag: string): boolean {
  if (unseenElements.has(name) && name !== 'head') return true;
  if (/\shidden(?=[\s=/>])/i.test(tag) || /\saria-hidden\s*=\s*["']?true\b/i.test(tag)) return true;
  const [, double, single, bare] = styled.exec(tag) ?? [];
  const style = double ?? single ?? bare;
  return style !== undefined && hiddenStyle.test(style.replace(/&(?:#58|#x3a|colon);?/gi, ':'));
}
