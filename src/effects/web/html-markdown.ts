import rehypeParse from 'rehype-parse';
import rehypeRemark from 'rehype-remark';
import remarkGfm from 'remark-gfm';
import remarkStringify from 'remark-stringify';
import {unified} from 'unified';
import {shallowText} from './html-shallow.ts';
import {keepVisible} from './html-visible.ts';

export interface Markdown {
  title?: string;
  content: string;
}

/** Convert the visible part of a page to Markdown. Hostile pages can make this slow: see html-thread.ts. */
export function markdownOf(html: string, address: string): Markdown {
  const tree = unified().use(rehypeParse).parse(shallowText(html));
  const title = keepVisible(tree, address);
  const markdown = unified().use(rehypeRemark).runSync(tree);
  const writer = unified().use(remarkGfm).use(remarkStringify, {bullet: '-', rule: '-', resourceLink: true});
  const content = writer.stringify(markdown as Parameters<typeof writer.stringify>[0]);
  return {...(title !== undefined && {title}), content};
}
