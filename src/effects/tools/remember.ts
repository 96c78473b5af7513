import {failure, isFailure} from '../tool/failure.ts';
import type {Tool, ToolFailure} from '../tool/tool.ts';
import {isGitName} from '../workspace/git-name.ts';

export const rememberTool: Tool<'remember'> = {
  execute: ({file, text}, context) => {
    const name = unfit(text) ?? memoryFile(file);
    return isFailure(name) ? name : context.remember(name.path, text);
  },
  ask: ({file, text}) => {
    const name = unfit(text) ?? memoryFile(file);
    if (isFailure(name)) return name;
    return {
      type: 'file_write',
      title: `note in ${name.path}: ${text.replace(/\s+/g, ' ').slice(0, 120)}`,
      parts: [
        {label: 'File', text: name.path},
        {label: 'Text', text},
      ],
      edits: {argument: 'text', label: 'Text'},
    };
  },
};

/** A NUL makes a file binary for most readers; other control characters can hide text in a terminal. */
function unfit(text: string): ToolFailure | undefined {
  if (/^[\s\u0085]*$/.test(text)) return failure('INVALID_ARGUMENTS', 'text: expected a note, got nothing but blanks');
  const control = CONTROL.exec(text)?.[0].codePointAt(0);
  if (control === undefined) return undefined;
  const code = `U+${control.toString(16).toUpperCase().padStart(4, '0')}`;
  return failure('INVALID_ARGUMENTS', `text: expected plain text, got the control character ${code}`);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for control characters.
const CONTROL = /[\0-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]/;

/** Accept `team-prefs`, `team-prefs.md` and `memory/team-prefs.md` for the same file. */
function memoryFile(written: string): {path: string} | ToolFailure {
  const name = written.replace(/^(?:\.\/)?memory\//, '').replace(/(?:\.md)?$/, '.md');
  const parts = name.split('/');
  const plain = parts.every(part => /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,100}$/u.test(part) && !isGitName(part));
  if (!plain || parts.length > 4)
    return failure(
      'INVALID_ARGUMENTS',
      `file: expected the name of a file in memory/ such as team-prefs.md, got ${JSON.stringify(written.slice(0, 100))}`,
    );
  return {path: `memory/${name}`};
}
