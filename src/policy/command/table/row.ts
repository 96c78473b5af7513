/** Facts about a command beyond its harmless uses, for deny rules, the risk, and the files that an approval is bound to. */
export interface CommandFacts {
  /** Runs the words after its own options. */
  wraps?: WrapperSyntax;
  /** Is a shell: runs a line, a file or its input. */
  shell?: true;
  /** Each word is a line for a shell. */
  runsWords?: true;
  /** Options whose value is a command line or a program. */
  runs?: string;
  /** Runs programs that its operands or options name. */
  interprets?: Interpreter;
  /** Options that name a file to run or load: `-f FILE`, `-fFILE`, `--file=FILE`. */
  loads?: string;
  /** Options that name the folder to work in. */
  enters?: string;
  /** Files that it reads by default, and that decide what it does. */
  reads?: string;
  /** Runs what files of the working directory say. */
  builds?: true;
  /** Contacts other machines: always, or with these subcommands (`push,remote update`). */
  reaches?: true | string;
  risk?: 'machine' | 'deletes' | 'controls' | 'writes';
  /** Long forms of its letters. */
  long?: Readonly<Record<string, string>>;
}

/** Syntax of a command that runs the words after its own options. Lists are separated by spaces. */
export interface WrapperSyntax {
  /** Options whose value is the next word. */
  valued?: string;
  /** Letters of options without a value. */
  plain?: string;
  /** Long options whose value is not the next word. Options in neither list may take one or not. */
  switches?: string;
  /** Options whose value a shell reads. */
  strings?: string;
  /** `strings` options count anywhere, even after operands. */
  anywhere?: true;
  /** Options whose value is the program to which words after the operands are passed; listed in `valued` too. */
  program?: string;
  /** The command begins after the first of these options, wherever it is. */
  before?: string;
  /** Number of its own operands before the command. */
  operands?: number;
  /** These operands may be missing: the command may begin at each. */
  optional?: true;
  /** `NAME=value` may come before the command. */
  assignments?: true;
  /** The words are joined and read by a shell. */
  joined?: true;
  /** Without a command it only prints. */
  bare?: true;
  /** Without a command it runs its input. */
  reads?: true;
}

export interface Interpreter {
  /** Options whose value is code, not a file. */
  code?: RegExp;
  /** Only files named by options are programs; operands are data. */
  onlyOptions?: true;
}

/** One row for several commands. */
export function same(names: string, row: CommandRow): Record<string, CommandRow> {
  return Object.fromEntries(names.split(' ').map(name => [name, row]));
}

/** Whether a harmless use of the command is known; others only have facts. */
export function hasHarmlessUse(row: CommandRow): boolean {
  if (row.options !== undefined || row.operands !== undefined) return true;
  return Object.values(row.subcommands ?? {}).some(hasHarmlessUse);
}

/**
 * The harmless uses of one command. A use that the row does not list asks. `rows.ts` lists one row per command, made from the manual of the program.
 *
 * @example
 * head: {options: '-q -v -# -c= -n= --lines= --bytes= --quiet', operands: 'file*'}
 */
export interface CommandRow extends CommandFacts {
  /**
   * Harmless options, separated by spaces, spelled in full; letters also match in clusters (`-la`).
   *
   * - `-l`, `--long`: no value.
   * - `-n=`, `--lines=`: one value, attached or in the next word. A role may follow: `-f=file`, `-e=pattern`.
   * - `--color=?`: a value only if it is attached.
   * - `-#`: a number after the dash, as in `head -5`.
   * - A trailing `^` means that folders are read with everything below; `@` that links are followed.
   */
  options?: string;
  /** Options that are not harmless, in the same notation: a rule that spells one out can be followed further. */
  spelled?: string;
  /**
   * Roles of the operands in order (see roles.ts); `*` repeats the last one. Missing or '': none. With `subcommands`,
   * '' means that the command without a subcommand is harmless.
   */
  operands?: string;
  /** Roles of the operands if one of these options is given. */
  when?: Readonly<Record<string, string>>;
  /** One of these options must be given, or the use is not known to be harmless: `python --version`. */
  needs?: string;
  /**
   * `words`: an option is a whole word, never a cluster (`find`). `apart`: an option with a value is never in a cluster.
   * `tar`: the first word may lack its dash. `operands`: no word is an option.
   */
  style?: 'words' | 'apart' | 'tar' | 'operands';
  /** Options come before operands; what looks like one later is a file, perhaps to write. */
  optionsFirst?: true;
  /** Rows of subcommands. The options of this row come before them. */
  subcommands?: Readonly<Record<string, CommandRow>>;
  /** Subcommands in any letter case. */
  anyCase?: true;
  /** Writes what its operands name: its purpose, but not reading. */
  changes?: true;
  /** Shows the machine (processes, users, devices), not only files that it is given. */
  machine?: true;
  /** Asks a service of the host, such as Docker. */
  service?: true;
  /** Contacts the address that it is given. */
  network?: true;
  /** Reads folders that it is given, or the working directory, with everything below. */
  walks?: true;
  /** Opens other names than it is given: `gzip x` opens x.gz. */
  guesses?: true;
  /** Reads options from the file in a word `@FILE`. */
  optionFiles?: true;
  /** Shows names and sizes of files, never their content. */
  lists?: true;
}

/** How a harmless option is read. */
export interface Option {
  /** Role of its value; undefined: it takes none. */
  role?: string;
  /** The value counts only if it is attached. */
  optional: boolean;
  walks: boolean;
  follows: boolean;
  harmless: boolean;
}

/** Parse the notation of `CommandRow.options`. */
export function parseOptions(list: string, harmless: boolean): [name: string, option: Option][] {
  return list
    .trim()
    .split(/\s+/)
    .filter(token => token !== '')
    .map(token => {
      const match = /^([=!<>]=?$|[^=^@]+)(?:=(\?)?([a-z]*))?([\^@]*)$/.exec(token);
      if (!match) throw new Error(`not an option of a row: ${token}`);
      const [, name = '', optional, role, marks = ''] = match;
      const option: Option = {
        ...(role !== undefined && {role: role === '' ? 'text' : role}),
        optional: optional !== undefined,
        walks: marks.includes('^'),
        follows: marks.includes('@'),
        harmless,
      };
      return [name, option];
    });
}
