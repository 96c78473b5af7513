/** Characters by frequency in sources and prose, most frequent first. */
const common = ' etarnoislcdupmfhgbyv.,()"\'=;:{}-/_wk*x<>01TSEIAC';

const SHORTEST = 3;

/** Searching for more texts is no faster than the pattern itself. */
const MOST_ALTERNATIVES = 4;

/**
 * Texts of which every line that matches the expression contains at least one, if that is certain. Searching for these
 * rules out most files. For each alternative, prefers a text whose first byte is rare, because it is found faster.
 */
export function requiredTexts(source: string): Buffer[] | undefined {
  const texts: Buffer[] = [];
  for (const alternative of alternativesOf(source)) {
    const text = requiredText(alternative);
    if (text === undefined || texts.push(Buffer.from(text)) > MOST_ALTERNATIVES) return undefined;
  }
  return texts;
}

function requiredText(source: string): string | undefined {
  let best = '';
  for (const run of literalRuns(source) ?? []) {
    for (let from = 0; from === 0 || from <= run.length - SHORTEST; from++) {
      const part = run.slice(from);
      if (best === '' || weight(part) > weight(best)) best = part;
    }
  }
  return best === '' ? undefined : best;
}

function alternativesOf(source: string): string[] {
  const parts: string[] = [];
  let from = 0;
  for (let i = 0; i < source.length; i += Math.max(1, atomAt(source, i))) {
    if (source[i] !== '|') continue;
    parts.push(source.slice(from, i));
    from = i + 1;
  }
  return [...parts, source.slice(from)];
}

/** Length of the atom at `at`; 0 if it is unterminated. */
function atomAt(source: string, at: number): number {
  const char = source[at];
  return char === '(' ? groupAt(source, at) : char === '[' ? classAt(source, at) : char === '\\' ? 2 : 1;
}

function weight(text: string): number {
  const rank = common.indexOf(text[0] ?? '');
  return Math.min(text.length, SHORTEST) * 1000 + (rank < 0 ? common.length : rank) * 10 + Math.min(text.length, 9);
}

/** Literal text outside of groups, classes and optional parts. Undefined if an escape is not understood. */
function literalRuns(source: string): string[] | undefined {
  const runs: string[] = [];
  let run = '';
  const end = () => {
    if (run !== '') runs.push(run);
    run = '';
  };
  for (let i = 0; i < source.length; ) {
    const atom = atomAt(source, i);
    const literal = literalOf(source.slice(i, i + atom));
    if (atom === 0 || literal === undefined) return undefined;
    i += atom;
    const repeated = /^(?:[*+?]|\{(\d+)(?:,\d*)?\})\??/.exec(source.slice(i, i + 40));
    if (!repeated) {
      run += literal;
      if (literal === '') end();
      continue;
    }
    i += repeated[0].length;
    // It occurs at least once, but what follows need not come right after its first occurrence.
    if (repeated[0].startsWith('+') || Number(repeated[1]) > 0) run += literal;
    end();
  }
  end();
  return runs;
}

/** The character that an atom matches, '' if it can match several; undefined: not understood. */
function literalOf(atom: string): string | undefined {
  const [first = '', second = ''] = atom;
  if (first === '\\') {
    if (/[dDwWsSbB]/.test(second)) return '';
    return /[A-Za-z0-9]/.test(second) || second === '' ? undefined : plain(second);
  }
  return /[([^$.]/.test(first) ? '' : plain(first);
}

/** Exclude replacement characters and halves of surrogate pairs: their bytes in a file are unknown. */
function plain(char: string): string {
  return /[\ud800-\udfff\ufffd]/.test(char) ? '' : char;
}

/** Length of the group at `from`; 0 if it is unterminated. */
function groupAt(source: string, from: number): number {
  let depth = 0;
  for (let i = from; i < source.length; i++) {
    const char = source[i];
    if (char === '\\') i++;
    else if (char === '[') {
      const length = classAt(source, i);
      if (length === 0) return 0;
      i += length - 1;
    } else if (char === '(') depth++;
    else if (char === ')' && --depth === 0) return i + 1 - from;
  }
  return 0;
}

function classAt(source: string, from: number): number {
  for (let i = from + 1; i < source.length; i++) {
    if (source[i] === '\\') i++;
    else if (source[i] === ']') return i + 1 - from;
  }
  return 0;
}
