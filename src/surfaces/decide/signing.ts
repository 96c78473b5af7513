import {readdirSync} from 'node:fs';
import {homedir} from 'node:os';
import {join} from 'node:path';
import {sign} from '../../effects/signature/ssh-signature.ts';
import {exit, UserError} from '../../errors.ts';
import {signedText} from '../../files/approval-signature.ts';
import {fieldOf} from '../../files/task.ts';
import {git} from '../../store/git.ts';
import type {Request} from './queue.ts';

/** A signature of a yes to this request. */
export async function signature({id, task}: Request, edited: string | undefined, key: string): Promise<string> {
  const digest = fieldOf(task, 'digest');
  if (digest === undefined)
    throw new UserError(`${id} has no digest that a signature could be bound to`, exit.usage, 'leave --sign out');
  const signed = await sign(signedText({id, digest, decision: 'approved', edited}), key);
  if ('problem' in signed) throw new UserError(`it could not be signed: ${signed.problem}`);
  return signed.signature;
}

/** The key that is meant: the one given, the one git signs with, or the only one in ~/.ssh. */
export async function signingKey(home: string, given: string | undefined): Promise<string> {
  return given ?? (await gitKey(home)) ?? onlyKey();
}

async function gitKey(home: string): Promise<string | undefined> {
  const get = async (name: string) => (await git(home, ['config', '--get', name])).stdout.trim();
  if ((await get('gpg.format')) !== 'ssh') return undefined;
  return (await get('user.signingkey')) || undefined;
}

function onlyKey(): string {
  const folder = join(homedir(), '.ssh');
  const [only, second] = keysIn(folder);
  if (only !== undefined && second === undefined) return join(folder, only);
  throw new UserError(
    only === undefined ? `there is no key in ${folder}` : `there are several keys in ${folder}`,
    exit.usage,
    'name one: --key FILE; or for good: git config --global gpg.format ssh && git config --global user.signingkey FILE',
  );
}

/** Private keys lie beside their public halves. */
function keysIn(folder: string): string[] {
  try {
    const names = readdirSync(folder);
    return names.filter(name => names.includes(`${name}.pub`));
  } catch {
    return [];
  }
}
