import {homedir} from 'node:os';
import {resolve} from 'node:path';
import {schemeOf, whyNoClone} from '../../formats/clone-address.ts';

/** Where to clone from. */
export interface CloneSource {
  url: string;
  /** The same without what is secret: an agent reads the settings of its git-dir. */
  kept: string;
  /** In words. */
  shown: string;
}

/** What `clone:` names: a web or ssh address, or a path from the home on, `~` the person's own. Or why it is not taken. */
export function cloneSource(home: string, written: string): CloneSource | {refused: string} {
  const refused = whyNoClone(written);
  if (refused !== undefined) return {refused};
  const text = written.trim();
  if (schemeOf(text) !== '') return {url: text, kept: withoutSecret(text), shown: withoutUser(text)};
  // As scp writes it: host:path, no slash before the colon.
  if (/^(?:[A-Za-z0-9][\w.-]*@)?[A-Za-z0-9][\w.-]*:(?!\\)./.test(text)) return {url: text, kept: text, shown: text};
  const path = resolve(home, text.replace(/^~(?=\/|$)/, homedir()));
  return {url: path, kept: path, shown: text};
}

/** A name and a password before the host are nobody's business. */
function withoutUser(url: string): string {
  return url.replace(/\/\/[^/]*@/, '//');
}

/** The name alone is part of an ssh address; on the web it may be a token. */
function withoutSecret(url: string): string {
  return /^ssh:/i.test(url) ? url.replace(/(\/\/[^/:]*):[^/]*@/, '$1@') : withoutUser(url);
}
