import {commandKind, ownEntry} from './command-name.ts';
import {knownUse} from './known-use.ts';
import type {Interpreter} from './table/row.ts';
import {rows} from './table/rows.ts';
import {unwrap} from './wrappers.ts';

/** Paths of files that a line may run, as written; relative paths start where the line runs. */
export interface ScriptOperands {
  /** Files that it runs or loads, existing or not. May contain globs. */
  named: string[];
  /** Other words; those that name programs may be run. */
  possible: string[];
  /** An interpreter in the line runs its input. */
  reads: boolean;
  /** It may run files that its words do not name for certain: there is an expansion, or code that can load files. */
  unnamed: boolean;
}

const MOST_FOLDERS = 16;
const MOST_TOKENS = 4096;
const LONGEST_PATH = 4096;

/**
 * Files that decide what a line does: programs given by path, operands of interpreters, files that builders read, also
 * inside wrappers. Pure: does not check whether the files exist.
 */
export function scriptOperands(line: string, segments: readonly {argv: readonly string[]}[]): ScriptOperands {
  const named = new Set<string>();
  const words = new Set<string>();
  const folders = [''];
  let unclear = false;
  let reads = false;
  let unnamed = segments.length === 0 || DECIDING.test(line);
  const add = (paths: Iterable<string>, to: Set<string>): void => {
    for (const path of paths) if (isPath(path)) for (const folder of folders) to.add(below(folder, path));
  };
  const visit = (argv: readonly string[]): void => {
    const found = scriptsOf(argv);
    const entered = found.folders.flatMap(path => folders.map(folder => below(folder, path)));
    for (const folder of entered) if (folders.length < MOST_FOLDERS && !folders.includes(folder)) folders.push(folder);
    add(found.scripts, named);
    reads ||= found.reads;
    unclear ||= found.reads || found.scripts.some(path => /[$`]/.test(path));
    unnamed ||= found.unnamed || found.reads;
  };
  for (const {argv} of segments) {
    visit(argv);
    if (unwrap(argv, visit).doubts.length > 0) unnamed = true;
  }
  const tokens = line.match(/[^\s;|&<>()=:,'"`{}$\\]+/g) ?? [];
  for (const token of [...segments.flatMap(({argv}) => argv.slice(1)), ...tokens]) {
    if (words.size >= MOST_TOKENS) break;
    add([token], words);
  }
  // The input of an interpreter, or the value of a variable, comes from somewhere in the line.
  if (unclear) for (const word of words) named.add(word);
  return {named: [...named], possible: [...words].filter(word => !named.has(word)), reads, unnamed};
}

interface Scripts {
  scripts: string[];
  folders: string[];
  /** An interpreter without operands runs its input. */
  reads: boolean;
  unnamed: boolean;
}

/** Variables that decide which files programs run or load. */
const DECIDING =
  /\b(?:\w*PATH|LD_\w+|(?:BASH_)?ENV|IFS|SHELL|\w*OPTIONS|\w+OPTS?|PYTHON\w+|PERL5\w+|GIT_\w+|MAKE\w+|\w*PAGER|EDITOR|VISUAL)\+?=/;

/** Shell expansions. In a command name also globs; `[` alone is a command. */
const EXPANDS = /[$`<{]|^~/;
const GLOBS = /[*?]|.\[/;

function scriptsOf(argv: readonly string[]): Scripts {
  const [name = '', ...args] = argv;
  const kind = commandKind(name);
  const first = args.find(word => !word.startsWith('-')) ?? '';
  const scripts = name.includes('/') ? [name] : [];
  const row = ownEntry(rows, kind);
  const both = [row, ownEntry(row?.subcommands ?? {}, first)];
  for (const part of both) scripts.push(...optionValues(part?.loads, args));
  const folders = optionValues(row?.enters, args);
  if (kind === 'cd' || kind === 'pushd') folders.push(first);
  const loose = [name, ...folders].some(path => EXPANDS.test(path) || GLOBS.test(path));
  for (const part of both) scripts.push(...(part?.reads?.split(' ') ?? []));
  const interpreter: Interpreter | undefined = row?.shell ? {code: /^-[A-Za-z]*c[A-Za-z]*$/} : row?.interprets;
  const unnamed = () => loose || scripts.some(isUnnamed);
  if (!interpreter || interpreter.onlyOptions) {
    const mayLoad = scripts.length === 0 && hasUnknownOption(argv) && (!!interpreter || !looksThrough(argv));
    return {scripts, folders, reads: false, unnamed: unnamed() || mayLoad};
  }
  if (kind === 'python') scripts.push(...optionValues('-m', args).flatMap(moduleFiles));
  const {operands, coded} = programOperands(args, interpreter.code);
  scripts.push(...operands);
  if (kind === 'node') scripts.push(...operands.filter(path => !/\.\w+$/.test(path)).flatMap(nodeFiles));
  if (kind === 'python') scripts.push(...operands.map(path => below(path, '__main__.py')));
  const informs = args.length > 0 && args.every(word => /^(--version|--help|-V|-v|-h)$/.test(word));
  // Code may load files beside it; code for a shell is searched instead.
  const loads = coded && !row?.shell;
  return {scripts, folders, reads: operands.length === 0 && !coded && !informs, unnamed: unnamed() || loads};
}

/** Whether the row of the command does not know one of its options or scripts, which may load files. */
function hasUnknownOption(argv: readonly string[]): boolean {
  return knownUse(argv)?.unknown.some(({flag, noRow}) => !noRow && /^-|[^\w.-]/.test(flag)) === true;
}

/** Globs in the last component are expanded, others are not. */
function isUnnamed(path: string): boolean {
  return EXPANDS.test(path) || GLOBS.test(path.slice(0, path.lastIndexOf('/') + 1)) || /^\/.*[*?[]/.test(path);
}

/** Whether `unwrap` visits the command that it runs. */
function looksThrough(argv: readonly string[]): boolean {
  let found = false;
  unwrap(argv, () => {
    found = true;
  });
  return found;
}

/**
 * The operand that is the program. A word after an option may be its value: then the next one counts too, until one is
 * certainly an operand. The rest is data.
 */
function programOperands(args: readonly string[], code: RegExp | undefined): {operands: string[]; coded: boolean} {
  const operands: string[] = [];
  let coded = false;
  for (let i = 0; i < args.length; i++) {
    const word = args[i] ?? '';
    if (code?.test(word)) {
      coded = true;
      i++;
    } else if (word === '-') return {operands: [], coded};
    else if (!/^[-+]/.test(word) || word === '') {
      operands.push(word);
      if (i === 0 || !/^[-+]/.test(args[i - 1] ?? '') || args[i - 1] === '--') break;
    }
  }
  return {operands: coded ? [] : operands, coded};
}

function moduleFiles(module: string): string[] {
  const path = module.replaceAll('.', '/');
  return [`${path}.py`, `${path}/__main__.py`, `${path}/__init__.py`];
}

function nodeFiles(path: string): string[] {
  return ['.js', '.cjs', '.mjs', '/index.js', '/package.json'].map(end => `${path.replace(/\/$/, '')}${end}`);
}

/** Next word or attached value. */
function optionValues(options: string | undefined, args: readonly string[]): string[] {
  if (options === undefined) return [];
  const listed = options.split(' ');
  return args.flatMap((word, i) => {
    if (listed.includes(word)) return [args[i + 1] ?? ''];
    const at = word.indexOf('=');
    if (at > 0 && listed.includes(word.slice(0, at))) return [word.slice(at + 1)];
    const attached = listed.find(option => option.length === 2 && word.startsWith(option) && !word.startsWith('--'));
    if (attached !== undefined) return [word.slice(2)];
    // `-nf FILE`: the last of combined letters.
    const last = /^-[A-Za-z]{2,}$/.test(word) && listed.includes(`-${word.at(-1)}`);
    return last ? [args[i + 1] ?? ''] : [];
  });
}

function below(folder: string, path: string): string {
  const short = path.replace(/^(\.\/+)+(?=.)/, '');
  return folder === '' || short.startsWith('/') ? short : `${folder.replace(/\/$/, '')}/${short}`;
}

function isPath(word: string): boolean {
  return word !== '' && word !== '-' && !/^-./.test(word) && word.length <= LONGEST_PATH && !/[\0\n]/.test(word);
}
