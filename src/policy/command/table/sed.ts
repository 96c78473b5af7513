/** Longer scripts are not read. */
const LONGEST = 4096;

/** Delimiters that mean nothing in a regular expression. */
const delimiters = '/|,#@:!%=';

/**
 * A regular expression of which every program sees the same end. To some a delimiter within a bracket set ends it, so each set
 * must be closed for those who know `[.].]` and for those who do not, for those to whom a backslash in it is a character and
 * for the others.
 */
const plainRegex = /^(?:[^[\\]|\\.|\[\^?(?:[^[\]\\^]|\[:[a-z]+:\]|\\[^[\]])(?:[^[\]\\]|\[:[a-z]+:\]|\\[^[\]])*\])*$/;

/**
 * Whether a sed script only edits what it prints: every command in it is known, and none writes, reads or runs
 * anything (`w`, `W`, `r`, `R`, `e`, flags of `s`). What GNU sed and POSIX read differently counts as unknown.
 */
export function isHarmlessSed(script: string): boolean {
  if (script.length > LONGEST) return false;
  return new SedReader(script).read();
}

class SedReader {
  private readonly text: string;
  private at = 0;
  private depth = 0;

  constructor(text: string) {
    this.text = text;
  }

  read(): boolean {
    for (;;) {
      this.skip(/[\s;]/);
      if (this.at >= this.text.length) return this.depth === 0;
      if (!this.readCommand()) return false;
    }
  }

  private readCommand(): boolean {
    if (!this.readAddresses()) return false;
    this.skip(/[ !]/);
    const command = this.text.charAt(this.at++);
    switch (command) {
      case '{':
        this.depth++;
        return true;
      case '}':
        return this.depth-- > 0 && this.ends();
      case '=':
      case 'd':
      case 'D':
      case 'F':
      case 'g':
      case 'G':
      case 'h':
      case 'H':
      case 'n':
      case 'N':
      case 'p':
      case 'P':
      case 'x':
      case 'z':
        return this.ends();
      // A number may follow: an exit code or a width.
      case 'q':
      case 'Q':
      case 'l':
        this.skip(/[ \d]/);
        return this.ends();
      // A label ends at the first blank; newer versions of sed read on after it.
      case 'b':
      case 't':
      case 'T':
      case ':':
        this.skip(/ /);
        this.skip(/\w/);
        return this.ends();
      case 's':
        return this.readSubstitution();
      case 'y':
        return this.readParts(2) && this.ends();
      // Text goes to the end of the line, unless a backslash continues it.
      case 'a':
      case 'i':
      case 'c': {
        const end = this.text.indexOf('\n', this.at);
        const text = this.text.slice(this.at, end < 0 ? undefined : end);
        this.at += text.length;
        return text.trim() !== '' && !text.includes('\\');
      }
      default:
        return false;
    }
  }

  private readAddresses(): boolean {
    if (!this.readAddress()) return false;
    this.skip(/ /);
    if (this.text.charAt(this.at) !== ',') return true;
    this.at++;
    this.skip(/ /);
    if (/[+~]/.test(this.text.charAt(this.at))) this.at++;
    return this.readAddress();
  }

  /** A number, `first~step`, `$`, `/regex/` with flags, or nothing. */
  private readAddress(): boolean {
    const char = this.text.charAt(this.at);
    if (/\d/.test(char)) {
      this.skip(/[\d~]/);
      return true;
    }
    if (char === '$') {
      this.at++;
      return true;
    }
    if (char !== '/') return char !== '\\';
    if (!this.readParts(1)) return false;
    this.skip(/[IM]/);
    return true;
  }

  private readSubstitution(): boolean {
    if (!this.readParts(2)) return false;
    this.skip(/[gpiImM\d]/);
    return this.ends();
  }

  /** Parts between delimiters: `/a/b/`. The first is a regular expression. */
  private readParts(count: number): boolean {
    const delimiter = this.text.charAt(this.at++);
    if (delimiter === '' || !delimiters.includes(delimiter)) return false;
    for (let part = 0; part < count; part++) {
      const start = this.at;
      for (; this.text.charAt(this.at) !== delimiter; this.at++) {
        const char = this.text.charAt(this.at);
        if (char === '' || char === '\n') return false;
        if (char === '\\') this.at++;
      }
      if (part === 0 && !plainRegex.test(this.text.slice(start, this.at))) return false;
      this.at++;
    }
    return true;
  }

  /** Whether the command ends here. */
  private ends(): boolean {
    this.skip(/ /);
    const char = this.text.charAt(this.at);
    return char === '' || char === ';' || char === '\n' || char === '}';
  }

  private skip(chars: RegExp): void {
    while (this.at < this.text.length && chars.test(this.text.charAt(this.at))) this.at++;
  }
}
