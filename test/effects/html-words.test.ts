import {describe, expect, it} from 'vitest';
import {markdownOf} from '../../src/effects/web/html-markdown.ts';
import {visibleWords} from '../../src/effects/web/html-shallow.ts';

/** Pages with what nobody sees, `X`, between `a` and `b`, which everybody does. */
const pages = [
  '<p>a</p><p style="display:none">X</p><p>b</p>',
  '<p>a<p hidden>X<p>b',
  '<p>a<p hidden>X<div>b</div>',
  '<div>a</div><div hidden><div>X</div>X</div><div>b</div>',
  "<div>a</div><div STYLE='color: red; visibility : hidden'>X<p>X</div>b",
  '<span>a</span><span aria-hidden=true>X</span> b',
  '<ul><li>a<li hidden>X<ul><li>X</ul>X<li>b</ul>',
  '<ul><li>a</li><li style=display:none>X</ul>b',
  '<table><tr><td>a<td style="display&#58;none">X<tr><td>b</table>',
  'a<script>"<p>X"</script><style>X</style><template><p>X</p></template><svg><text>X</text></svg>b',
  'a<!-- X --><input type=hidden value=X>b',
  'a<b hidden style="X">X<i>X</i></b>b',
];

describe('the words of a page', () => {
  it.each(pages)('have nothing hidden: %s', page => {
    expect(visibleWords(page).replace(/\s+/g, '')).toBe('ab');
  });

  it('go on after what is hidden in a page without end tags', () => {
    expect(visibleWords(`<p hidden>X<p>seen${'<ul><li>'.repeat(100_000)}too`)).toMatch(/^seen\s+too$/);
  });
});

describe('a page that is too deep, or has tags too long', () => {
  it.each(pages)('shows nothing hidden: %s', page => {
    const {content} = markdownOf(`${'<div>'.repeat(200)}${page}`, 'http://example.org/');
    expect(content.replace(/[^\w]+/g, '')).toBe('ab');
  });

  it('shows nothing hidden by a long tag', () => {
    const page = `<p>a</p><div style="display:none" data-x="${'y'.repeat(9000)}">X<div>X</div></div><p>b</p>`;
    expect(markdownOf(page, 'http://example.org/').content.replace(/\s+/g, '')).toBe('ab');
  });
});
