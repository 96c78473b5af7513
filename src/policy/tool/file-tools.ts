import {z} from 'zod';
import {
  countArgument,
  flagArgument,
  nameArgument,
  ownPathArgument,
  pathArgument,
  type ToolDefinition,
  textArgument,
} from './definition.ts';

export const fileTools = {
  read_file: {
    effect: 'read',
    default: 'allow',
    description: 'Read a text file. Use offset and limit (lines) for long files.',
    arguments: z.strictObject({
      path: pathArgument,
      offset: countArgument('First line, from 1.').optional(),
      limit: countArgument('Most lines to return.').optional(),
    }),
    result: {
      path: 'As the tools take it.',
      content: 'The lines, as they are in the file.',
      first_line: 'Number of the first of them.',
      last_line: 'Number of the last.',
      'total_lines?': 'Lines of the file, unless it is large.',
      'file_bytes?': 'Size of a large file, whose lines are not counted.',
      'left_out?': 'Offset and limit of the lines that did not fit, and how to get them.',
      'note?': 'What to know about its text: another encoding than UTF-8.',
      'untrusted?, sources?':
        'It shows what was kept of a page or a command that reached other machines, or tasks that something from outside led to, and what that was.',
    },
  },
  list_directory: {
    effect: 'read',
    default: 'allow',
    description: 'List the files and folders of a directory, the workspace by default.',
    arguments: z.strictObject({
      path: pathArgument.optional(),
      recursive: flagArgument('Also everything below.').optional(),
    }),
    result: {
      path: 'As the tools take it.',
      entries: '`name` of each, with `/` at the end of a directory; `size` of files, `link` for links.',
      'incomplete?': 'Why not all is there, and what to do.',
    },
  },
  create_directory: {
    effect: 'write',
    default: 'ask',
    description: 'Create a directory in the workspace, with its parents.',
    arguments: z.strictObject({path: ownPathArgument}),
    result: {
      path: 'As the tools take it.',
      created: 'False if it was there.',
    },
  },
  write_file: {
    effect: 'write',
    default: 'ask',
    description: 'Write a whole file in the workspace, replacing what it held.',
    arguments: z.strictObject({path: ownPathArgument, content: textArgument('The whole new content.')}),
    result: {
      path: 'As the tools take it.',
      created: 'False if it replaced a file.',
      bytes: 'Its size.',
    },
  },
  create_file: {
    effect: 'write',
    default: 'ask',
    description: 'Create a new file in the workspace. Fails if it exists.',
    arguments: z.strictObject({path: ownPathArgument, content: textArgument('The content.')}),
    result: {
      path: 'As the tools take it.',
      bytes: 'Its size.',
    },
  },
  edit_file: {
    effect: 'write',
    default: 'ask',
    description:
      'Replace one exact piece of text in a file of the workspace. `old` must occur once, unless `all` is true.',
    arguments: z.strictObject({
      path: ownPathArgument,
      old: nameArgument('The text to replace, exactly as it is in the file.'),
      new: textArgument('The text to put there.'),
      all: flagArgument('Replace every occurrence.').optional(),
    }),
    result: {
      path: 'As the tools take it.',
      replaced: 'How many pieces.',
      lines: 'Where they stood.',
      bytes: 'The size of the file now.',
      'untrusted?': 'It shows what was kept of a page or a command that reached other machines.',
    },
  },
  glob: {
    effect: 'read',
    default: 'allow',
    description: 'Find files by name pattern, for example `src/**/*.ts`.',
    arguments: z.strictObject({pattern: nameArgument('A glob.'), path: pathArgument.optional()}),
    result: {
      files: 'Paths, by name.',
      'incomplete?': 'Why not all is there, and what to do.',
      'note?': 'If there are none: why that may be.',
    },
  },
  grep: {
    effect: 'read',
    default: 'allow',
    description:
      'Find lines that match a regular expression, with file and line number, as ripgrep does. Hidden files and what ignore files name are left out unless `path` names them.',
    arguments: z.strictObject({
      pattern: nameArgument(
        'A regular expression, matched within a line. Escape . ( ) [ ] { } * + ? | ^ $ to find them.',
      ),
      path: pathArgument.optional(),
      glob: textArgument('Only these files: `*.{ts,js}`, `src/**`, or `!*.test.ts` for all others.').optional(),
      ignore_case: flagArgument('Upper and lower case are the same.').optional(),
      context: z.number().int().min(0).describe('Lines to show around each match, 20 at most.').optional(),
      limit: countArgument('Most matches to return: 200 unless given, 2000 at most.').optional(),
    }),
    result: {
      matches: 'Lines that match.',
      files: 'Files that have one.',
      content:
        '`path:line:text` of each, `path-line-text` of those around it, as ripgrep prints them. Of long lines the part around the match.',
      'incomplete?': 'Why not all is there, and what to do.',
      'skipped?': 'Files that were not searched: too large, not readable, or binary.',
      'note?':
        'An argument that was too large; if there are no matches, what ignore files, hidden names or the glob left out.',
      'untrusted?, sources?':
        'It shows what was kept of a page or a command that reached other machines, or tasks that something from outside led to, and what that was.',
    },
  },
  search_files: {
    effect: 'read',
    default: 'allow',
    description:
      'Find the passages nearest to a question in the files of the workspace and in memory/, best first. Use it when you do not know the exact words; grep finds exact ones.',
    arguments: z.strictObject({
      query: nameArgument('What to look for, in words.'),
      path: pathArgument.describe('Only here: `memory/`, or a folder or file of the workspace.').optional(),
      limit: countArgument('Most passages to return: 8 unless given, 50 at most.').optional(),
    }),
    result: {
      passages:
        'Best first: `path`, `first_line`, `last_line`, `score`, `heading` (the headings it stands under, if any) and `text`.',
      files: 'How many files were searched.',
      'incomplete?': 'Why not all was searched, and what to do: files that are not read yet, or too many.',
      'skipped?': 'Files that were not searched: too large, or binary.',
      'note?': 'What to know about the search by meaning; if nothing is found, where it was looked for.',
      'untrusted?, sources?':
        'It shows what was kept of a page or a command that reached other machines, or tasks that something from outside led to, and what that was.',
    },
  },
} as const satisfies Record<string, ToolDefinition>;
