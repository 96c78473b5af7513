import {existsSync} from 'node:fs';
import {homedir} from 'node:os';
import {makeVisible} from '../../formats/common/visible.ts';
import {readSigners} from './signers-file.ts';
import {type KeygenResult, sshKeygen, withFiles} from './ssh-keygen.ts';

/** `by`: the signer. */
export type SignatureCheck = {by: string} | {problem: string};

/** Purpose of a signature: signatures for mail or git do not count. */
const NAMESPACE = 'agentdir';
/** Long enough for a person to type a passphrase or touch a security key. */
const SIGN_MS = 120_000;
const VERIFY_MS = 10_000;
const MOST_SIGNATURE = 32 * 1024;

const BEGIN = '-----BEGIN SSH SIGNATURE-----';
const END = '-----END SSH SIGNATURE-----';

/**
 * Sign with `ssh-keygen -Y sign`; returns the signature as one line. `key`: a private key file, a public key file whose
 * private key is in an ssh agent, or a literal public key (`ssh-ed25519 AAAA…`, or `key::…` as in git's settings).
 * ssh-keygen prompts on the terminal. Never throws.
 */
export async function sign(text: string, key: string): Promise<{signature: string} | {problem: string}> {
  const literal = /^(?:key::(.+)|((?:ssh|ecdsa|sk)-\S+ \S.*))$/s.exec(key.trim());
  const path = key.replace(/^~(?=\/)/, homedir());
  if (!literal && !existsSync(path)) return {problem: `there is no key ${key}`};
  const {HOME, SSH_AUTH_SOCK} = process.env;
  const environment = {...(HOME && {HOME}), ...(SSH_AUTH_SOCK && {SSH_AUTH_SOCK})};
  try {
    return await withFiles(literal ? {'key.pub': `${literal[1] ?? literal[2]}\n`} : {}, async place => {
      const file = literal ? place('key.pub') : path;
      const said = await sshKeygen(['-Y', 'sign', '-n', NAMESPACE, '-f', file], text, SIGN_MS, environment);
      if ('problem' in said) return said;
      const [, body] = new RegExp(`${BEGIN}\n([^-]+)${END}`).exec(said.stdout) ?? [];
      return said.code === 0 && body ? {signature: body.replace(/\s/g, '')} : {problem: signFailure(said, key)};
    });
  } catch (error) {
    return {problem: (error as Error).message};
  }
}

function signFailure(said: Extract<KeygenResult, {code: number}>, key: string): string {
  if (/passphrase/i.test(said.stderr))
    return `the key ${key} has a passphrase, and it was not given: run ssh-add ${key} first, or sign in a terminal`;
  if (/No private key found|agent/i.test(said.stderr))
    return `the private key of ${key} is neither beside it nor in an ssh agent: run ssh-add first`;
  return `ssh-keygen could not sign with ${key}: ${words(said)}`;
}

/**
 * `signers`: path of an allowed-signers file (`ssh-keygen -Y verify`). Keys must be valid now: a decision's file could
 * claim an earlier time at which an expired key was still valid. Never throws.
 */
export async function verifySignature(text: string, signature: string, signers: string): Promise<SignatureCheck> {
  const read = readSigners(signers);
  return 'problem' in read ? read : verifyBy(text, signature, read.text);
}

/** Verify with the text of an allowed-signers file. `at`: verify as of a time known from elsewhere. */
export async function verifyBy(text: string, signature: string, signers: string, at?: Date): Promise<SignatureCheck> {
  const armoured = armour(signature);
  if (armoured === undefined) return {problem: 'the signature is not one of ssh-keygen: it is cut off or altered'};
  const time = at ? ['-O', `verify-time=${at.toISOString().replace(/[-T:]|\..*/g, '')}`] : [];
  try {
    return await withFiles({signature: armoured, signers}, async place => {
      const files = ['-f', place('signers'), '-s', place('signature')];
      const found = await sshKeygen(['-Y', 'find-principals', ...time, ...files], '', VERIFY_MS);
      if ('problem' in found) return found;
      const names = found.stdout.split(/[\n,]/).filter(Boolean).slice(0, 16);
      if (found.code !== 0 || names.length === 0)
        return {problem: 'the key that signed is not, or not at that time, among the signers'};
      let last = '';
      for (const name of names) {
        const args = ['-Y', 'verify', '-n', NAMESPACE, '-I', name, ...time, ...files];
        const said = await sshKeygen(args, text, VERIFY_MS);
        if ('problem' in said) return said;
        if (said.code === 0) return {by: makeVisible(name)};
        last = words(said);
      }
      return {problem: `the signature of ${makeVisible(names.join(', '))} is not for this decision: ${last}`};
    });
  } catch (error) {
    return {problem: (error as Error).message};
  }
}

function armour(signature: string): string | undefined {
  if (signature.length > MOST_SIGNATURE || !/^[A-Za-z0-9+/]+={0,2}$/.test(signature)) return undefined;
  if (!Buffer.from(signature, 'base64').toString('latin1').startsWith('SSHSIG')) return undefined;
  return `${BEGIN}\n${signature.match(/.{1,70}/g)?.join('\n')}\n${END}\n`;
}

function words({stdout, stderr}: Extract<KeygenResult, {code: number}>): string {
  const lines = (stderr || stdout).split(/[\r\n]+/).filter(line => line.trim() !== '');
  return makeVisible(lines.at(-1) ?? 'it does not say why').slice(0, 300);
}
