import type {CommandRow} from '../../src/policy/command/table/row.ts';
import type {TraceEvent} from './trace-events.ts';

/** A row and the words that call its program: `git log` with `['git', 'log']`, `awk` with `['gawk']`. */
export interface NamedRow {
  name: string;
  path: readonly string[];
  row: CommandRow;
}

/** Programs that are read by the row of another name. */
const programs: Readonly<Record<string, readonly string[]>> = {
  awk: ['awk', 'gawk', 'mawk'],
  fd: ['fdfind'],
  python: ['python3'],
};

/** The rows of a table for each of their programs. */
export function namedRows(rows: Readonly<Record<string, CommandRow>>): NamedRow[] {
  return Object.entries(rows).flatMap(([name, row]) =>
    (programs[name] ?? [name]).flatMap(program => rowsBelow(name, program.split(' '), row)),
  );
}

/** A row and those of its subcommands that can be tried in a sandbox: services are not there. */
function rowsBelow(name: string, path: readonly string[], row: CommandRow): NamedRow[] {
  if (row.service) return [];
  const {machine, network, changes} = row;
  const inherited = {...(machine && {machine}), ...(network && {network}), ...(changes && {changes})};
  const below = Object.entries(row.subcommands ?? {}).flatMap(([word, sub]) =>
    rowsBelow(`${name} ${word}`, [...path, word], {...inherited, ...sub}),
  );
  return [{name, path, row}, ...below];
}

/** Operands that suit a row better than those by role. Words before `|` come before the options. */
const samples: Readonly<Record<string, string>> = {
  tar: '-tf x.tar |',
  unzip: '| x.zip member',
  zipinfo: '| x.zip',
  gzip: '-c | x.gz',
  gunzip: '-c | x.gz',
  zcat: '| x.gz',
  bzip2: '-c | x.bz2',
  bunzip2: '-c | x.bz2',
  bzcat: '| x.bz2',
  xz: '-c | x.xz',
  unxz: '-c | x.xz',
  xzcat: '| x.xz',
  zstd: '-c | x.zst',
  zstdcat: '| x.zst',
  find: '. |',
  // The first file is named like a script: if an option takes the script for its value, the file is not read.
  jq: '| empty empty y.json',
  awk: '| one one b',
  sed: '| p p b',
  'git diff': '| HEAD^',
  'git diff-tree': '| HEAD',
  'git diff-index': '| HEAD',
  'git range-diff': '| HEAD^...HEAD',
  'git rev-list': '| HEAD',
  'git shortlog': '| HEAD',
  'git describe': '| --always',
  'git rev-parse': '| HEAD',
  'git cat-file': '| HEAD',
  'git ls-tree': '| HEAD',
  'git blame': '| a',
  'git annotate': '| a',
  'git merge-base': '| HEAD other',
  'git check-ignore': '| a',
  'git check-attr': '| diff a',
  'git config': '| core.pager',
  'git cherry': '| other',
  'git name-rev': '| HEAD',
  'git log': '|',
  'git show': '|',
  'git ls-files': '|',
  'git status': '|',
  'git show-branch': '|',
  curl: '| http://127.0.0.1:9/',
  date: '|',
  ps: '|',
  pgrep: '| x',
  getconf: '| PATH',
  getent: '| passwd',
};

const byRole: Readonly<Record<string, readonly string[]>> = {
  pattern: ['one'],
  text: ['1', '2'],
  url: ['http://127.0.0.1:9/'],
};

/** A use of a row with these options. */
export function argvOf({name, path, row}: NamedRow, options: readonly string[]): string[] {
  const written = samples[name];
  if (written !== undefined) {
    const [before = '', after = ''] = written.split('|').map(part => part.trim());
    return [...path, ...wordsOf(before), ...options, ...wordsOf(after)];
  }
  const needed = wordsOf(row.needs ?? '').slice(0, 1);
  const operands = wordsOf(row.operands ?? '').flatMap(role => {
    return byRole[role.replace(/[*?]$/, '')] ?? (role.endsWith('*') ? ['a', 'b'] : ['a']);
  });
  return [...path, ...needed, ...options, ...operands];
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter(word => word !== '');
}

/**
 * Programs that a command starts by design, on a PATH that agents cannot change. Git shows differences through textconv
 * unless told otherwise, and agents cannot change its settings.
 */
const helpers: Readonly<Record<string, RegExp>> = {
  git: /\/git$|^textconv$/,
  tar: /\/(?:gzip|bzip2|xz|lzma|zstd|lzip|compress|sh)$/,
  zcat: /\/gzip$/,
  gunzip: /\/gzip$/,
  bzcat: /\/bzip2$/,
  diff3: /\/diff$/,
  dpkg: /\/dpkg-query$/,
  locale: /\/gzip$/,
  'apt-cache': /\/dpkg$/,
  'git diff': /^external-diff$/,
};

/** Whether an event is how the command works, and nothing that its options add. */
export function isExpected({name, row}: NamedRow, {kind, what}: TraceEvent): boolean {
  const [command = ''] = name.split(' ');
  switch (kind) {
    case 'runs':
      return helpers[command]?.test(what) === true || helpers[name]?.test(what) === true;
    case 'writes':
      // Its own temporary folder, terminals and pipes. Git keeps what it learned about files in its index.
      if (/^\/(?:dev|proc)\/|^\/tmp(?!\/ws\/)/.test(what)) return true;
      if (command === 'git' && /^\S*\.git\/index\b/.test(what)) return true;
      return row.changes === true && !what.startsWith('/');
    case 'network':
      return row.network === true || row.machine === true || /nscd/.test(what);
    default:
      return true;
  }
}
