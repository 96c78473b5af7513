import {homedir} from 'node:os';
import {resolve} from 'node:path';
import {schemeOf, whyNoClone} from '../../formats/clone-address.ts';

export interface CloneSource {
  url: string;
  /** URL without secrets: an agent reads the settings of its git-dir. */
  kept: string;
  /** For messages. */
  shown: string;
}

/** Parse `clone:`: a web or ssh address, or a path relative to the home (`~` is the user's). `refused`: why not. */
export function cloneSource(home: string, written: string): CloneSource | {refused: string} {
  const refused = whyNoClone(written);
  if (refused !== undefined) return {refused};
  const text = written.trim();
  if (schemeOf(text) !== '') return {url: text, kept: withoutSecret(text), shown: withoutUser(text)};
  // scp syntax: host:path, without a slash before the colon.
  if (/^(?:[A-Za-z0-9][\w.-]*@)?[A-Za-z0-9][\w.-]*:(?!\\)./.test(text)) return {url: text, kept: text, shown: text};
  const path = resolve(home, text.replace(/^~(?=\/|$)/, homedir()));
  return {url: path, kept: path, shown: text};
}

/** Remove user name and password before the host. */
function withoutUser(url: string): string {
  return url.replace(/\/\/[^/]*@/, '//');
}

/** The user name is part of an ssh address; on the web it may be a token. */
function withoutSecret(url: string): string {
  return /^ssh:/i.test(url) ? url.replace(/(\/\/[^/:]*):[^/]*@/, '$1@') : withoutUser(url);
}
