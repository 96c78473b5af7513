import {z} from 'zod';
import {refuse} from './yaml/validate.ts';

/** Why a repository cannot be cloned from there; undefined: a path, or an address that runs no program. */
export function whyNoClone(text: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: refuses control characters
  if (text.trim() === '' || /[\x00-\x1f\x7f]/.test(text)) return 'it is empty or has control characters';
  const [, helper] = /^\s*([A-Za-z0-9][A-Za-z0-9+.-]*)::/.exec(text) ?? [];
  if (helper !== undefined) return `${helper}:: addresses run programs and are not used`;
  const scheme = schemeOf(text.trim());
  return scheme === '' || /^(?:https?|ssh|git|file)$/i.test(scheme)
    ? undefined
    : `${scheme}:// is not among https, ssh, git and file`;
}

/** Empty if there is none. */
export function schemeOf(text: string): string {
  return /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(text)?.[1] ?? '';
}

/** The rules of git check-ref-format for branches; also refuses HEAD, which would be ambiguous. */
export function isBranchName(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: refuses control characters
  if (name === '' || name === '@' || name === 'HEAD' || /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\.$|^-/.test(name))
    return false;
  return name.split('/').every(part => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'));
}

const addressHint = 'write a path from the home on, or an https, ssh, git or file address';

export const workspaceSchema = z
  .looseObject({
    clone: z
      .string()
      .refine(
        text => whyNoClone(text) === undefined,
        refuse('BAD_VALUE', 'expected a repository to clone', addressHint),
      )
      .optional(),
    branch: z
      .string()
      .refine(isBranchName, refuse('BAD_VALUE', 'expected the name of a branch', 'write for example agents/coder'))
      .optional(),
    git: z.enum(['own']).optional().describe('own: the agent branches and commits in a repository of its own.'),
  })
  .refine(
    ({clone, branch}) => clone !== undefined || branch === undefined,
    refuse(
      'MISSING_KEY',
      'expected clone beside branch: only a workspace that is cloned has one',
      'add clone, or take branch out',
    ),
  );
