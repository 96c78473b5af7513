import {commandKind} from './command-name.ts';
import {riskyUses} from './flags.ts';
import {fileOptions, folderOptions, type Interpreter, implicitFiles, interpreters} from './script-table.ts';
import {shells} from './wrapper-table.ts';
import {unwrap} from './wrappers.ts';

/** Paths, as the line has them, of what it may run. Relative ones from where it starts. */
export interface ScriptOperands {
  /** It runs or loads these, as far as can be told: there, or yet to come. May have globs. */
  named: string[];
  /** Its other words: what of them is a program may be run by it. */
  possible: string[];
  /** An interpreter in it runs what it reads. */
  reads: boolean;
  /** It may run files that its words do not name for certain: an expansion stands there, or code that can load others. */
  unnamed: boolean;
}

const MOST_FOLDERS = 16;
const MOST_TOKENS = 4096;
const LONGEST_PATH = 4096;

/**
 * The files that decide what a line does: programs given by a path, operands of interpreters, what builders read, through
 * whatever wraps them. Pure: whether they are there is for others to see.
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
  // What an interpreter reads, or what a variable holds, comes from somewhere in the line.
  if (unclear) for (const word of words) named.add(word);
  return {named: [...named], possible: [...words].filter(word => !named.has(word)), reads, unnamed};
}

interface Scripts {
  scripts: string[];
  folders: string[];
  /** An interpreter that was given nothing runs what it reads. */
  reads: boolean;
  unnamed: boolean;
}

/** Variables that decide which files programs run or load. */
const DECIDING =
  /\b(?:\w*PATH|LD_\w+|(?:BASH_)?ENV|IFS|SHELL|\w*OPTIONS|\w+OPTS?|PYTHON\w+|PERL5\w+|GIT_\w+|MAKE\w+|\w*PAGER|EDITOR|VISUAL)\+?=/;

/** What a shell replaces by something else. Of a name, also `[`, unless that is the command. */
const EXPANDS = /[$`<{]|^~/;
const GLOBS = /[*?]|.\[/;

/** Of one simple command. */
function scriptsOf(argv: readonly string[]): Scripts {
  const [name = '', ...args] = argv;
  const kind = commandKind(name);
  const [first = ''] = operandsOf(args);
  const scripts = name.includes('/') ? [name] : [];
  for (const key of [kind, `${kind} ${first}`]) scripts.push(...optionValues(entryOf(fileOptions, key), args));
  const folders = optionValues(entryOf(folderOptions, kind), args);
  if (kind === 'cd' || kind === 'pushd') folders.push(first);
  const loose = [name, ...folders].some(path => EXPANDS.test(path) || GLOBS.test(path));
  for (const key of [kind, `${kind} ${first}`]) scripts.push(...(entryOf(implicitFiles, key)?.split(' ') ?? []));
  const interpreter = shells.has(kind) ? {code: /^-[A-Za-z]*c[A-Za-z]*$/} : entryOf<Interpreter>(interpreters, kind);
  const unnamed = () => loose || scripts.some(isUnnamed);
  if (!interpreter || interpreter.onlyOptions) {
    const other = scripts.length === 0 && riskyUses(argv).some(({reason}) => /\bruns?\b/.test(reason));
    return {scripts, folders, reads: false, unnamed: unnamed() || (other && (!!interpreter || !looksThrough(argv)))};
  }
  if (kind === 'python') scripts.push(...optionValues('-m', args).flatMap(moduleFiles));
  const {operands, coded} = programOperands(args, interpreter.code);
  scripts.push(...operands);
  if (kind === 'node') scripts.push(...operands.filter(path => !/\.\w+$/.test(path)).flatMap(nodeFiles));
  if (kind === 'python') scripts.push(...operands.map(path => below(path, '__main__.py')));
  const informs = args.length > 0 && args.every(word => /^(--version|--help|-V|-v|-h)$/.test(word));
  // Code may load whatever lies beside it; that of a shell is looked through.
  const loads = coded && !shells.has(kind);
  return {scripts, folders, reads: operands.length === 0 && !coded && !informs, unnamed: unnamed() || loads};
}

/** Globs in its last part are followed, others are not. */
function isUnnamed(path: string): boolean {
  return EXPANDS.test(path) || GLOBS.test(path.slice(0, path.lastIndexOf('/') + 1)) || /^\/.*[*?[]/.test(path);
}

/** What it runs is among what is visited. */
function looksThrough(argv: readonly string[]): boolean {
  let found = false;
  unwrap(argv, () => {
    found = true;
  });
  return found;
}

/**
 * The operand that is the program. What follows an option may be that option's value: then the next one counts as well,
 * up to one that certainly is an operand. The rest is data.
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

function operandsOf(args: readonly string[]): string[] {
  return args.filter(word => !word.startsWith('-'));
}

/** The next word, or what is attached. */
function optionValues(options: string | undefined, args: readonly string[]): string[] {
  if (options === undefined) return [];
  const listed = options.split(' ');
  return args.flatMap((word, i) => {
    if (listed.includes(word)) return [args[i + 1] ?? ''];
    const at = word.indexOf('=');
    if (at > 0 && listed.includes(word.slice(0, at))) return [word.slice(at + 1)];
    const attached = listed.find(option => option.length === 2 && word.startsWith(option) && !word.startsWith('--'));
    if (attached !== undefined) return [word.slice(2)];
    // `-nf FILE`: the last of several letters.
    const last = /^-[A-Za-z]{2,}$/.test(word) && listed.includes(`-${word.at(-1)}`);
    return last ? [args[i + 1] ?? ''] : [];
  });
}

function entryOf<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

function below(folder: string, path: string): string {
  const short = path.replace(/^(\.\/+)+(?=.)/, '');
  return folder === '' || short.startsWith('/') ? short : `${folder.replace(/\/$/, '')}/${short}`;
}

function isPath(word: string): boolean {
  return word !== '' && word !== '-' && !/^-./.test(word) && word.length <= LONGEST_PATH && !/[\0\n]/.test(word);
}
