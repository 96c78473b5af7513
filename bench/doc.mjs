import {readFileSync, writeFileSync} from 'node:fs';

const BEGIN = '<!-- bench: written by npm run bench -- --doc -->';
const END = '<!-- bench: end -->';

/** Put the report between the two marks of a page; its headings one level lower. */
export function intoDoc(path, text) {
  const page = readFileSync(path, 'utf8');
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`${path} has no lines ${BEGIN} and ${END}, one after the other`);
  const compact = text.replace(/^##/gm, '###').replace(/ +\|/g, ' |').replace(/\| +/g, '| ');
  // The page shows rows with a goal; bench/results/latest.md has all of them.
  const body = compact.replace(/^\|.*\| \| \|\n/gm, '');
  writeFileSync(path, `${page.slice(0, begin + BEGIN.length)}\n${body.trim()}\n${page.slice(end)}`);
}
