interface Where {
  unicode: boolean;
  inClass: boolean;
}

/** Escapes with the same meaning in JavaScript. */
const known = /[dDwWsSbBtnrfv0-9]/;

/** Escapes of other dialects. */
const others: Readonly<Record<string, string>> = {
  A: '^',
  z: '$',
  Z: '$',
  '<': '\\b',
  '>': '\\b',
  a: '\\x07',
  e: '\\x1b',
  H: '[^ \\t]',
};

const instead: Readonly<Record<string, string>> = {
  K: 'write what stands before as (?<=…)',
  G: 'leave it out',
  R: 'matches are within one line',
  N: 'write .',
  X: 'write .',
};

/** Translate the escape at `at` to JavaScript; a string says why that is impossible. */
export function escapeAt(body: string, at: number, {unicode, inClass}: Where): {text: string; length: number} | string {
  const char = body[at + 1] ?? '';
  if (char === '') return 'it ends with a single \\; to find a backslash, write \\\\';
  const code = /^\\(?:[xu]\{([0-9A-Fa-f]{1,6})\}|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4}))/.exec(body.slice(at, at + 12));
  if (code) return characterOf(code[0], Number.parseInt(code[1] ?? code[2] ?? code[3] ?? '', 16));
  if (char === 'h') return {text: inClass ? ' \\t' : '[ \\t]', length: 2};
  if (char === 'k') return {text: '\\k', length: 2};
  if (char === 'p' || char === 'P') return propertyAt(body, at);
  if (inClass && char === 'b') return {text: '\\x08', length: 2};
  if (known.test(char)) return {text: `\\${char}`, length: 2};
  const other = inClass && !/[ae]/.test(char) ? undefined : others[char];
  if (other !== undefined) return {text: other, length: 2};
  if (/[A-Za-z]/.test(char)) {
    const how = instead[char] ?? `to find the letter, write ${char}; to find it with its backslash, \\\\${char}`;
    return `\\${char} is not known; ${how}`;
  }
  // With the u flag, JavaScript rejects needless escapes.
  const bare = unicode && !/[\\^$.*+?()[\]{}|/-]/.test(char);
  return {text: bare || (unicode && char === '-' && !inClass) ? char : `\\${char}`, length: 2};
}

function characterOf(text: string, code: number): {text: string; length: number} | string {
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return `${text} is not a character`;
  const units = [...String.fromCodePoint(code)].flatMap(char => char.split(''));
  const out = units.map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
  return {text: out, length: text.length};
}

/** `\pL`, `\p{Greek}`. */
function propertyAt(body: string, at: number): {text: string; length: number} | string {
  const found = /^\\([pP])(?:\{(\^?)([\w=]+)\}|([A-Z]))/.exec(body.slice(at, at + 60));
  if (!found) return '\\p is not known without a class, as in \\p{L}; to find it as it stands, write \\\\p';
  const [text, letter, not, long, short] = found;
  const sign = not === '^' ? (letter === 'p' ? 'P' : 'p') : letter;
  const name = [long ?? short ?? '', `Script=${long}`].find(isProperty);
  if (name !== undefined) return {text: `\\${sign}{${name}}`, length: text.length};
  return `${text} is not known; there are \\p{L} for letters, \\p{Lu}, \\p{N}, \\p{P}, and scripts such as \\p{Greek}`;
}

const properties = new Set<string>();

/** Test by compiling, which takes long. Wrong names are many, so only valid ones are cached. */
function isProperty(name: string): boolean {
  if (properties.has(name)) return true;
  try {
    new RegExp(`\\p{${name}}`, 'u');
    properties.add(name);
    return true;
  } catch {
    return false;
  }
}
