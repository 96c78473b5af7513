/** Longer words are cut, in texts and queries alike. */
const MAX_WORD = 64;

/** Scripts without spaces between words: indexed by pairs of adjacent characters. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]+/u;
const UNSPACED_PARTS = new RegExp(UNSPACED, 'gu');
const WORD = /[\p{L}\p{N}\p{M}_]+/gu;
const ASCII_WORD = /[A-Za-z0-9_]+/g;
/** Accents on letters of these scripts. In other scripts such marks are vowels. */
const ACCENT = /(?<=[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}]\p{Mn}*)\p{Mn}/gu;
/** Letters that do not decompose into a base letter and an accent. */
const PLAIN: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
};
/** Word boundaries inside a name: `parseHTML`, `HTMLParser`, `utf8Text`. */
const JOINTS = /(?<=\p{Ll}|\p{N})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;

/**
 * Words of a text in index form: lower case, without accents. A name like `readFile`, `read_file` or `src/read-file.ts`
 * yields its parts, and the whole name if it has only letters, digits and `_`.
 */
export function wordsOf(text: string): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
  const ascii = /^[\x00-\x7f]*$/.test(text);
  const plain = ascii ? text : folded(text);
  const words: string[] = [];
  for (const [word] of plain.matchAll(ascii ? ASCII_WORD : WORD)) {
    if (ascii || !hasUnspaced(word)) addWord(words, word);
    else addMixed(words, word);
  }
  return words;
}

export function hasUnspaced(word: string): boolean {
  return UNSPACED.test(word);
}

function folded(text: string): string {
  return text
    .normalize('NFKD')
    .replace(ACCENT, '')
    .normalize('NFC')
    .replace(/[ßæœøłđðþı]/giu, letter => PLAIN[letter.toLowerCase()] ?? letter);
}

function addWord(words: string[], word: string): void {
  if (word.length > MAX_WORD) {
    words.push(word.slice(0, MAX_WORD).toLowerCase());
    return;
  }
  const whole = word.toLowerCase();
  if (whole === word && !word.includes('_')) {
    words.push(word);
    return;
  }
  const parts = word.split('_').flatMap(part => part.split(JOINTS));
  if (parts.length > 1) for (const part of parts) if (part !== '') words.push(part.toLowerCase());
  if (/[^_]/.test(whole)) words.push(whole);
}

/** Split a run of letters of which some belong to a script without spaces. */
function addMixed(words: string[], run: string): void {
  let end = 0;
  for (const {0: part, index} of run.matchAll(UNSPACED_PARTS)) {
    if (index > end) addWord(words, run.slice(end, index));
    const characters = [...part];
    if (characters.length === 1) words.push(part);
    for (let i = 0; i + 1 < characters.length; i++) words.push(`${characters[i]}${characters[i + 1]}`);
    end = index + part.length;
  }
  if (end < run.length) addWord(words, run.slice(end));
}
