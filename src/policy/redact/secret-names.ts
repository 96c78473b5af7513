import {providerKeys} from '../../formats/providers.ts';
import type {Secret} from './redact.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const secretName =
  /(?:KEY|TOKEN|SECRET|SECRETS|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|(?:^|_)(?:PASS|PWD|PAT|AUTH|DSN|COOKIE))(?:_?(?:\d+|B64|BASE64|JSON|PEM|VALUE|PROD|DEV|STAGING|TEST))?$/i;
const notSecret = /^(?:OLD)?PWD$|PUBLIC_?KEY$|KEY_?ID$|^(?:SSH|GPG|XAUTH|DBUS|TERM|KEYBOARD)/i;
/** In an address, only the password is secret. */
const withPassword = /^[a-z][a-z0-9+.-]*:\/\/[^\s:@/]*:([^\s@]+)@/i;

/** Values that must never be written: the models' keys, and variables whose name or value marks a secret. */
export function secretsOf(keyVariables: Iterable<string>, env: Environment): Secret[] {
  const keys = new Set([...providerKeys, ...keyVariables]);
  const secrets: Secret[] = [];
  for (const name of keys) {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value) secrets.push({name, value, named: true});
    // The prefix of a Standard Webhooks secret is not secret.
    if (value?.startsWith('whsec_')) secrets.push({name, value: value.slice('whsec_'.length), named: true});
  }
  for (const [name, value] of Object.entries(env)) {
    if (!value || keys.has(name)) continue;
    const password = withPassword.exec(value)?.[1];
    if (password !== undefined) secrets.push({name, value: password});
    else if (secretName.test(name) && !notSecret.test(name)) secrets.push({name, value});
  }
  return secrets;
}
