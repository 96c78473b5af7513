import {commandKind, ownEntry} from './command-name.ts';
import {type Role, roleNamed} from './table/roles.ts';
import {type CommandRow, hasHarmlessUse, type Option, parseOptions} from './table/row.ts';
import {rows} from './table/rows.ts';

/** A word that the row of its command does not know as harmless. */
export interface UnknownUse {
  /** In argv; `argv.length` if the command as a whole is meant. */
  index: number;
  /** The part of an option that a rule must spell out, or the whole word. */
  flag: string;
  /** A sentence about the word. */
  reason: string;
  /** The word is, or follows, a subcommand that has no row. */
  noRow?: 'subcommand' | 'operand';
}

const EFFECTS = ['changes', 'machine', 'service', 'network', 'lists', 'guesses'] as const;
type Effect = (typeof EFFECTS)[number];

/** How a row reads a command. */
export interface KnownUse extends Pick<CommandRow, Effect> {
  /** Name of the row: `git log`. */
  name: string;
  unknown: UnknownUse[];
  /** Words, and values within words, that name files to read. */
  files: {index: number; path: string}[];
  /** Indexes of words that are never paths. */
  free: ReadonlySet<number>;
  /** Indexes of patterns and scripts, where `$` in single quotes is usual. */
  quotable: ReadonlySet<number>;
  /** Reads folders with everything below. */
  walks: boolean;
  /** Follows links that it meets. */
  follows: boolean;
}

interface CompiledRow {
  options: ReadonlyMap<string, Option>;
  operands: readonly string[];
  when: readonly {options: ReadonlySet<string>; operands: readonly string[]}[];
  needs: ReadonlySet<string>;
}

const compiled = new WeakMap<CommandRow, CompiledRow>();
const words = (list = ''): string[] => list.split(/\s+/).filter(word => word !== '');

function compile(row: CommandRow): CompiledRow {
  const known = compiled.get(row);
  if (known) return known;
  const made: CompiledRow = {
    options: new Map([...parseOptions(row.spelled ?? '', false), ...parseOptions(row.options ?? '', true)]),
    operands: words(row.operands),
    when: Object.entries(row.when ?? {}).map(([options, operands]) => ({
      options: new Set(words(options)),
      operands: words(operands),
    })),
    needs: new Set(words(row.needs)),
  };
  compiled.set(row, made);
  return made;
}

/**
 * Read a command by its row, as the program itself would read its options. Undefined: the command has no row. A use
 * without `unknown` is harmless as far as its words go; paths in it are not checked here.
 */
export function knownUse(argv: readonly string[]): KnownUse | undefined {
  const [command = ''] = argv;
  // A program elsewhere may be any program.
  if (command.includes('/') && !/^\/(?:usr\/)?bin\/[^/]+$/.test(command)) return undefined;
  const kind = commandKind(command);
  const row = ownEntry(rows, kind);
  return row && hasHarmlessUse(row) ? new Reader(argv, row, kind).read() : undefined;
}

/** Reads one command word by word. */
class Reader {
  private readonly unknown: UnknownUse[] = [];
  private readonly files: {index: number; path: string}[] = [];
  private readonly free = new Set<number>();
  private readonly quotable = new Set<number>();
  private readonly given = new Set<string>();
  private readonly operands: {index: number; word: string}[] = [];
  private readonly scripts: {index: number; word: string; role: Role}[] = [];
  /** An option that the row does not know: the next word may be its value. */
  private unsure = false;
  private spelled = false;
  private effects: Pick<CommandRow, Effect> = {};
  private walks = false;
  private follows = false;
  private at = 1;
  private readonly argv: readonly string[];
  private row: CommandRow;
  private name: string;

  constructor(argv: readonly string[], row: CommandRow, name: string) {
    this.argv = argv;
    this.row = row;
    this.name = name;
  }

  read(): KnownUse {
    this.addEffects();
    let ended = false;
    for (; this.at < this.argv.length; this.at++) {
      const word = this.argv[this.at] ?? '';
      this.checkOptionFile(word, this.at);
      if (!ended && word === '--' && this.row.style !== 'words' && !this.row.subcommands) ended = true;
      else if (!ended && this.isOption(word)) {
        if (this.row.optionsFirst && this.operands.length > 0) this.addUnknown(word);
        else this.readOption(word);
      } else if (this.row.subcommands) {
        if (!this.enter(word)) break;
      } else this.operands.push({index: this.at, word});
    }
    this.readOperands();
    this.readScripts();
    this.checkNeeds();
    const {name, unknown, files, free, quotable, walks, follows, effects} = this;
    return {name, unknown, files, free, quotable, walks, follows, ...effects};
  }

  private addEffects(): void {
    this.walks ||= this.row.walks === true;
    for (const effect of EFFECTS) if (this.row[effect]) this.effects[effect] = true;
  }

  private isOption(word: string): boolean {
    if (this.row.style === 'operands') return false;
    if (this.row.style === 'words' && compile(this.row).options.has(word)) return true;
    return (word.startsWith('-') && word !== '-') || (this.row.style === 'tar' && this.at === 1);
  }

  /** Go on with the row of a subcommand; false: there is none, so nothing that follows is known. */
  private enter(word: string): boolean {
    const next = ownEntry(this.row.subcommands ?? {}, this.row.anyCase ? word.toLowerCase() : word);
    const name = `${this.name} ${word}`;
    if (next && hasHarmlessUse(next)) {
      this.row = next;
      this.name = name;
      this.addEffects();
      return true;
    }
    for (let index = this.at; index < this.argv.length; index++) {
      const flag = this.argv[index] ?? '';
      const reason = `\`${name}\` is not known to only read`;
      this.unknown.push({index, flag, reason, noRow: index === this.at ? 'subcommand' : 'operand'});
    }
    return false;
  }

  private readOption(word: string): void {
    const {options} = compile(this.row);
    if (this.row.style === 'words') this.readExact(word, undefined);
    else if (word.startsWith('--')) {
      const at = word.indexOf('=');
      if (at < 0) this.readExact(word, undefined);
      else this.readExact(word.slice(0, at), word.slice(at + 1));
    } else if (!word.startsWith('-')) this.readOldLetters(word);
    else if (!/^-\d+$/.test(word) || !options.has('-#')) this.readLetters(word);
  }

  /** GNU binutils read options from `@FILE`, wherever the word is. */
  private checkOptionFile(word: string, index: number): void {
    if (this.row.optionFiles && word.startsWith('@')) this.add(index, word, `\`${word}\` may hold options`);
  }

  /** An option that is a word of its own. `attached`: the value after `=`. */
  private readExact(name: string, attached: string | undefined): void {
    const option = compile(this.row).options.get(name);
    if (!option || (attached !== undefined && option.role === undefined)) {
      this.addUnknown(name);
      return;
    }
    this.note(option, name);
    if (option.role === undefined || (option.optional && attached === undefined)) return;
    if (attached !== undefined) this.readValue(attached, option.role, this.at);
    else this.readNext(option.role, name);
  }

  /** Letters after one dash: each an option, the first with a value takes the rest or the next word. */
  private readLetters(word: string): void {
    const {options} = compile(this.row);
    for (let i = 1; i < word.length; i++) {
      const name = `-${word.charAt(i)}`;
      const option = options.get(name);
      const isAlone = word.length === 2;
      if (!option || (option.role !== undefined && !isAlone && this.row.style === 'apart')) {
        this.addUnknown(isAlone ? name : word, name);
        return;
      }
      this.note(option, name, word);
      if (option.role === undefined) continue;
      const rest = word.slice(i + 1);
      if (rest !== '') this.readValue(rest, option.role, this.at);
      else if (!option.optional) this.readNext(option.role, name);
      return;
    }
  }

  /** `tar tf FILE`: letters without a dash. Their values follow in the next words, in order. */
  private readOldLetters(word: string): void {
    const {options} = compile(this.row);
    const known = [...word].map(letter => ({name: `-${letter}`, option: options.get(`-${letter}`)}));
    const unknown = known.find(({option}) => option === undefined);
    if (unknown) {
      this.addUnknown(word, unknown.name);
      return;
    }
    for (const {name, option} of known) if (option) this.note(option, name, word);
    for (const {name, option} of known) if (option?.role !== undefined) this.readNext(option.role, name);
  }

  private note(option: Option, name: string, word = name): void {
    this.given.add(name);
    if (!option.harmless) {
      this.spelled = true;
      this.add(this.at, word, `\`${this.name} ${name}\` is not known to be harmless`);
    }
    this.walks ||= option.walks;
    this.follows ||= option.follows;
  }

  /** The value of an option in the next word, or words. A value that looks like an option is none, to be safe. */
  private readNext(role: string, option: string): void {
    for (let count = roleNamed(role).words ?? 1; count > 0; count--) {
      const value = this.argv[++this.at];
      if (value === undefined) return;
      this.checkOptionFile(value, this.at);
      const looksLikeOption = /^-[^\d]/.test(value) && role !== 'signed';
      if (looksLikeOption) this.add(this.at, value, `\`${value}\` looks like an option but is the value of ${option}`);
      // The first word of a pair is a name.
      this.readValue(value, count > 1 ? 'text' : role, this.at);
    }
  }

  private readValue(word: string, name: string, index: number): void {
    const role = roleNamed(name);
    if (role.file) this.files.push({index, path: word});
    if (role.script) this.scripts.push({index, word, role});
    else if (role.isHarmless && !role.isHarmless(word)) this.add(index, word, `\`${word}\` ${role.why}`);
    // The option and its value may share a word: `-g'*.ts'`.
    if (role.free) this.free.add(index);
    if (role.quotable) this.quotable.add(index);
  }

  private readOperands(): void {
    if (this.row.subcommands) return;
    const {operands, when} = compile(this.row);
    const special = when.find(({options}) => [...options].some(option => this.given.has(option)));
    let expected = [...(special?.operands ?? operands)];
    const first = expected[0]?.replace(/[*?]$/, '');
    const isGiven = first === 'pattern' ? this.hasPattern() : first !== undefined && this.scripts.length > 0;
    if (isGiven && roleOf(first).free && !expected[0]?.endsWith('*')) expected = expected.slice(1);
    if (this.unsure && new Set(expected.map(withoutMark)).size > 1)
      for (const {index, word} of this.operands)
        this.add(index, word, `\`${word}\` follows an option that may take it as its value`);
    for (const [i, {index, word}] of this.operands.entries()) {
      const role = expected[i] ?? (expected.at(-1)?.endsWith('*') ? expected.at(-1) : undefined);
      if (role === undefined) this.add(index, word, `\`${this.name}\` is not known with the operand \`${word}\``);
      else this.readValue(word, withoutMark(role), index);
    }
  }

  /** Whether an option gave the pattern that is the first operand otherwise: `grep -e x file`. */
  private hasPattern(): boolean {
    const {options} = compile(this.row);
    // The `-f` of pgrep takes no value.
    return ['-e', '--regexp', '-f', '--file'].some(
      name => this.given.has(name) && options.get(name)?.role !== undefined,
    );
  }

  private readScripts(): void {
    const role = this.scripts[0]?.role;
    if (!role?.isHarmless || role.isHarmless(this.scripts.map(({word}) => word).join('\n'))) return;
    for (const {index, word} of this.scripts) this.add(index, word, `\`${word}\` ${role.why}`);
  }

  private checkNeeds(): void {
    const {needs} = compile(this.row);
    const bare = this.row.subcommands && this.row.operands === undefined && this.operands.length === 0;
    if (bare && this.at >= this.argv.length && this.unknown.length === 0)
      this.add(this.argv.length, '', `\`${this.name}\` without a subcommand is not known to be harmless`);
    if (needs.size === 0 || this.spelled || [...needs].some(option => this.given.has(option))) return;
    this.add(this.argv.length, '', `\`${this.name}\` is known only with one of ${[...needs].join(' ')}`);
  }

  private addUnknown(flag: string, letter = flag): void {
    this.unsure = true;
    this.add(this.at, flag, `\`${letter}\` is not an option of \`${this.name}\` that is known to be harmless`);
  }

  private add(index: number, flag: string, reason: string): void {
    this.unknown.push({index, flag, reason});
  }
}

function withoutMark(role: string): string {
  return role.replace(/[*?]$/, '');
}

function roleOf(name: string | undefined): Role {
  return name === undefined ? {} : roleNamed(name);
}
