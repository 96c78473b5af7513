import {readdirSync} from 'node:fs';
import {homedir} from 'node:os';
import {join} from 'node:path';
import {signersPath} from '../../../effects/signature/signers-file.ts';
import {sign, verifySignature} from '../../../effects/signature/ssh-signature.ts';
import {signedText} from '../../../formats/approval/approval-digest.ts';
import type {Grants} from '../../../formats/approval/approval-grants.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {parseSettings} from '../../../formats/settings.ts';
import {fieldOf} from '../../../formats/task/task.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {git} from '../../../home/git/git.ts';
import {readHomeFile} from '../../../home/read.ts';
import type {Request} from './queue.ts';

/** Signs an approval; throws if the signature would not count. */
export async function signDecision(
  home: string,
  {id, task}: Request,
  {edited, grants}: {edited: string | undefined; grants: Grants},
  key: string,
): Promise<string> {
  const digest = fieldOf(task, 'digest');
  if (digest === undefined) throw new UserError(`${id} has no digest to sign`, exit.usage, 'omit --sign');
  const text = signedText({id, digest, decision: 'approved', edited, grants});
  const signed = await sign(text, key);
  if ('problem' in signed) throw new UserError(`it could not be signed: ${signed.problem}`);
  const signers = signersOf(home);
  const file = signers ? signersPath(home, signers) : undefined;
  const counts = file && ('problem' in file ? file : await verifySignature(text, signed.signature, file.path));
  if (counts && 'problem' in counts)
    throw new UserError(
      `the signature would not count (${counts.problem}); nothing was written`,
      exit.failed,
      `"signers: ${signers}" in agentdir.yaml says who may sign; to use another key: --key FILE`,
    );
  return signed.signature;
}

/** The signers file, if the settings require signatures. */
export function signersOf(home: string): string | undefined {
  const read = readHomeFile(nodeDisk(home), 'agentdir.yaml');
  if (!read || !('text' in read) || !read.text.includes('signers')) return undefined;
  return parseSettings(read.text).value?.approvals?.signers ?? undefined;
}

/** The given key, git's signing key, or the only key in ~/.ssh. */
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
    'name one: --key FILE; or permanently: git config --global gpg.format ssh && git config --global user.signingkey FILE',
  );
}

function keysIn(folder: string): string[] {
  try {
    const names = readdirSync(folder);
    return names.filter(name => names.includes(`${name}.pub`));
  } catch {
    return [];
  }
}
