import type {Element, Root, RootContent} from 'hast';

/** Elements that are invisible or not text. */
export const unseenElements: ReadonlySet<string> = new Set(
  'script style template iframe object embed svg canvas map link meta base head noembed noframes dialog datalist'.split(
    ' ',
  ),
);

export const hiddenStyle =
  /(^|;)\s*(display\s*:\s*none|visibility\s*:\s*(hidden|collapse)|opacity\s*:\s*0*\.?0*\s*(;|!|$)|font-size\s*:\s*0(px|em|rem|pt|%)?\s*(;|!|$))/i;

function isHidden({tagName, properties}: Element): boolean {
  if (unseenElements.has(tagName) || properties.hidden === true || properties.hidden === '') return true;
  if (String(properties.ariaHidden) === 'true' || properties.type === 'hidden') return true;
  return typeof properties.style === 'string' && hiddenStyle.test(properties.style);
}

/** Remove what a reader of the page would not see, and make addresses absolute. Returns the title. */
export function keepVisible(tree: Root, address: string): string | undefined {
  let title: string | undefined;
  let base = address;
  const rest: (Root | Element)[] = [tree];
  for (let parent = rest.pop(); parent; parent = rest.pop()) {
    const kept: RootContent[] = [];
    for (const child of parent.children) {
      if (child.type === 'comment' || child.type === 'doctype') continue;
      if (child.type === 'element') {
        if (child.tagName === 'head') {
          title ??= textOf(find(child, 'title'));
          base = resolved(find(child, 'base')?.properties.href, base) ?? base;
        }
        if (isHidden(child)) continue;
        const shown = withAddresses(child, base);
        if (shown.type === 'element') rest.push(shown);
        kept.push(shown);
      } else kept.push(child);
    }
    parent.children = kept as Element['children'];
  }
  return title;
}

function withAddresses(element: Element, base: string): Element | {type: 'text'; value: string} {
  const {tagName, properties} = element;
  if (tagName === 'a') {
    const href = resolved(properties.href, base);
    if (href === undefined) element.tagName = 'span';
    else properties.href = href;
  }
  if (tagName === 'img') {
    const src = resolved(properties.src, base);
    if (src === undefined) return {type: 'text', value: String(properties.alt ?? '')};
    properties.src = src;
  }
  return element;
}

/** Undefined if the address is not a web or mail address. */
function resolved(address: unknown, base: string): string | undefined {
  if (typeof address !== 'string' || !URL.canParse(address, base)) return undefined;
  const url = new URL(address, base);
  return /^(https?|mailto):$/.test(url.protocol) ? url.href : undefined;
}

function find({children}: Element, name: string): Element | undefined {
  return children.find((child): child is Element => child.type === 'element' && child.tagName === name);
}

function textOf(element: Element | undefined): string | undefined {
  const text = element?.children.map(child => (child.type === 'text' ? child.value : '')).join('');
  return text?.replace(/\s+/g, ' ').trim().slice(0, 300) || undefined;
}
