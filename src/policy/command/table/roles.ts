import {isHarmlessAwk} from './awk.ts';
import {isHarmlessJq} from './jq.ts';
import {isHarmlessSed} from './sed.ts';

/** How a command treats an operand or the value of an option. */
export interface Role {
  /** The word is never a path. */
  free?: true;
  /** The word is a pattern or a script, where `$` and backticks are usual. */
  quotable?: true;
  /** A file or folder that the command reads. */
  file?: true;
  /** Number of words of an option's value, if not one. */
  words?: 2;
  /** Whether the word is harmless. For a language: all its pieces, joined by newlines. */
  isHarmless?: (word: string) => boolean;
  /** Continues "`…` " where the word is not known to be harmless. */
  why?: string;
  /** The word is a script. If an option gives one, the first operand is none. */
  script?: true;
}

const act = 'is a script that is not known to only print';
const matches = (pattern: RegExp) => (word: string) => pattern.test(word);

/** Variables with which awk reads other files or shows the environment. */
const awkSpecial = /^(?:ARGV|ARGC|ENVIRON|PROCINFO|SYMTAB|FUNCTAB|INPLACE\w*)=/;

/** Words of a filter of `ss`, ports, and addresses that are numbers. */
const socketFilter =
  /^(?:state|exclude|[sd]port|src|dst|and|or|not|eq|ne|[gl][et]|all|connected|synchronized|bucket|big|established|syn-(?:sent|recv)|fin-wait-[12]|time-wait|clos(?:ed|ing)|close-wait|last-ack|listening|[=!<>]=?|[()]|(?:\d+(?:\.\d+){3}(?:\/\d+)?)?:?\d*|:[a-z]+)$/;

/** Roles by name, as rows use them. */
const roles = {
  text: {},
  pattern: {free: true, quotable: true},
  // Text that is printed, or separates fields.
  word: {free: true},
  count: {isHarmless: matches(/^\d*$/), why: 'is not a number'},
  // TZ="/path" opens a file.
  date: {isHarmless: word => !/TZ/i.test(word), why: 'names a time zone, which may be a file'},
  file: {file: true},
  sed: {free: true, quotable: true, script: true, isHarmless: isHarmlessSed, why: act},
  awk: {free: true, quotable: true, script: true, isHarmless: isHarmlessAwk, why: act},
  awkvalue: {
    isHarmless: word => /^[A-Za-z_]\w*=/.test(word) && !awkSpecial.test(word),
    why: 'sets a variable that is not known to be harmless',
  },
  awkfile: {
    file: true,
    isHarmless: word => !awkSpecial.test(word),
    why: 'sets a variable that is not known to be harmless',
  },
  jq: {
    free: true,
    quotable: true,
    script: true,
    isHarmless: isHarmlessJq,
    why: 'is a program that is not known to only compute',
  },
  pair: {words: 2},
  filepair: {words: 2, file: true},
  // Formats and sort keys that show signatures make git start gpg.
  gitformat: {
    free: true,
    quotable: true,
    isHarmless: word => !/%[-+ ]?G|%\(\*?signature/.test(word),
    why: 'may start gpg',
  },
  refformat: {free: true, quotable: true, isHarmless: word => !/%[-+ ]?G|signature/.test(word), why: 'may start gpg'},
  database: {
    free: true,
    isHarmless: matches(/^(?:passwd|group|services|protocols|rpc)$/),
    why: 'may ask other machines',
  },
  // A word without a dot is a subcommand of newer versions: `git config edit`.
  gitkey: {free: true, isHarmless: matches(/^[\w-]+\../), why: 'is not the name of a setting'},
  /** A commit or a path. A format that is given as a separate word ends up here. */
  revision: {file: true, isHarmless: word => !/%[-+ ]?G/.test(word), why: 'may start gpg'},
  archive: {
    file: true,
    isHarmless: word => !word.includes(':'),
    why: 'may name a file of another machine',
  },
  url: {
    free: true,
    isHarmless: matches(
      /^(?:https?:\/\/|(?!(?:ftp|dict|ldap|imap|smtp|pop3)\.)[\w-]+(?:\.[\w-]+)*(?::\d+)?(?=[/?]|$))[^@]*$/i,
    ),
    why: 'is not an http address',
  },
  kubeoutput: {
    isHarmless: matches(/^(?:json|yaml|wide|name|jsonpath=.*|custom-columns=.*)$/),
    why: 'may read a file',
  },
  // `remerge` writes objects, and runs merge drivers.
  mergediff: {
    isHarmless: matches(/^(?:off|none|on|m|1|first-parent|separate|c|combined|cc|dense-combined)$/),
    why: 'is not known to only compare',
  },
  // Names of hosts are looked up.
  socketfilter: {
    isHarmless: word => word.split(' ').every(piece => socketFilter.test(piece)),
    why: 'may be the name of another machine',
  },
  format: {free: true, isHarmless: matches(/^\+/), why: 'sets the clock'},
  signed: {isHarmless: matches(/^[-+/]?(?:\d[\w.]*|[ugoarwxXst+=,-]+)$/), why: 'is not a number or mode'},
  numbers: {isHarmless: matches(/^\d+(?:,\d+)*$/), why: 'is not a process number'},
  // `e` shows the environment of processes.
  psletters: {isHarmless: matches(/^[aAxXufjlwvhHTcrmLSgn]+$/), why: 'may show the environment of processes'},
  pscolumns: {isHarmless: matches(/^(?!.*env)[a-z0-9_,:=%+]+$/), why: 'may show the environment of processes'},
} satisfies Record<string, Role>;

export function roleNamed(name: string): Role {
  if (!Object.hasOwn(roles, name)) throw new Error(`no such role: ${name}`);
  return roles[name as keyof typeof roles];
}
