/** Captured terminal lines, with their colours, as an SVG that reads well on a light and on a dark page. */

const WIDTH = 8.43;
const HEIGHT = 19;
const MARGIN = 18;
const TITLE = 32;
const GAP = 16;

const colours = {
  30: '#5c6370',
  31: '#f07178',
  32: '#a5d6a7',
  33: '#ffcb6b',
  34: '#82aaff',
  35: '#c792ea',
  36: '#89ddff',
  37: '#d8dee9',
  90: '#7f8a9c',
  91: '#f07178',
  92: '#a5d6a7',
  93: '#ffcb6b',
  94: '#82aaff',
  95: '#c792ea',
  96: '#89ddff',
  97: '#ffffff',
};
const PLAIN = '#d8dee9';

export function drawWindows(windows, columns) {
  const width = Math.ceil(columns * WIDTH) + 2 * MARGIN;
  let top = 2;
  const drawn = windows.map(({title, lines, cursor}) => {
    const height = TITLE + lines.length * HEIGHT + MARGIN;
    const text = drawWindow({title, lines, cursor}, width - 4, height, columns);
    const at = `<g transform="translate(2 ${top})">\n${text}\n</g>`;
    top += height + GAP;
    return at;
  });
  const total = top - GAP + 2;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${total}" width="${width}" height="${total}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">
<title>${windows.map(({title}) => escaped(title)).join(' · ')}</title>
${drawn.join('\n')}
</svg>
`;
}

function drawWindow({title, lines, cursor}, width, height, columns) {
  const dots = ['#f07178', '#ffcb6b', '#a5d6a7'].map(
    (fill, n) => `<circle cx="${20 + n * 18}" cy="16" r="5.5" fill="${fill}"/>`,
  );
  const rows = lines.map((line, row) => drawLine(line, TITLE + 14 + row * HEIGHT, columns));
  return `<rect width="${width}" height="${height}" rx="9" fill="#1b2230" stroke="#4a5568"/>
${dots.join('')}
<text x="${width / 2}" y="21" fill="#9aa5b8" font-size="13" text-anchor="middle">${escaped(title)}</text>
${cursor ? drawCursor(cursor) : ''}${rows.filter(row => row !== '').join('\n')}`;
}

function drawCursor({x, y}) {
  const left = (MARGIN + x * WIDTH - 1).toFixed(1);
  return `<rect x="${left}" y="${TITLE + y * HEIGHT}" width="${WIDTH + 2}" height="${HEIGHT}" fill="#3f6f4f"/>\n`;
}

/** Each stretch is given its place and length, so that columns stay columns whatever font the reader has. */
function drawLine(line, y, columns) {
  let column = 0;
  const spans = [];
  for (const {text, style} of stretches(line)) {
    const room = columns - column;
    const shown = text.length > room ? `${text.slice(0, room - 1)}…` : text;
    if (room <= 0) break;
    if (shown.trim() !== '') spans.push(drawSpan(shown, style, column));
    column += shown.length;
  }
  return spans.length === 0 ? '' : `<text y="${y}" xml:space="preserve">${spans.join('')}</text>`;
}

function drawSpan(text, style, column) {
  const lead = text.length - text.trimStart().length;
  const words = text.trim();
  const x = (MARGIN + (column + lead) * WIDTH).toFixed(1);
  const weight = style.bold ? ' font-weight="bold"' : '';
  const faint = style.dim ? ' opacity="0.62"' : '';
  return `<tspan x="${x}" textLength="${(words.length * WIDTH).toFixed(1)}" lengthAdjust="spacingAndGlyphs" fill="${style.fill}"${weight}${faint}>${escaped(words)}</tspan>`;
}

/** The sequences of a terminal that change colours; split by it, they are kept. */
export const colourCode = new RegExp(`(${String.fromCharCode(27)}\\[[\\d;]*m)`, 'g');

/** A captured line, cut where its colours change. */
function stretches(line) {
  const found = [];
  let style = {fill: PLAIN, bold: false, dim: false};
  for (const part of line.split(colourCode)) {
    const codes = part.startsWith('\u001b') ? /\[([\d;]*)m$/.exec(part) : null;
    if (codes) for (const code of (codes[1] || '0').split(';').map(Number)) style = changed(style, code);
    else if (part !== '') found.push({text: part, style});
  }
  return found;
}

function changed(style, code) {
  if (code === 0) return {fill: PLAIN, bold: false, dim: false};
  if (code === 1) return {...style, bold: true};
  if (code === 2) return {...style, dim: true};
  if (code === 22) return {...style, bold: false, dim: false};
  if (code === 39) return {...style, fill: PLAIN};
  return colours[code] ? {...style, fill: colours[code]} : style;
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
