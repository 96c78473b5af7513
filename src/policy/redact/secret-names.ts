import type {Secret} from './redact.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** How names of variables end that hold secrets. */
const secretName =
  /(?:KEY|TOKEN|SECRET|SECRETS|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|(?:^|_)(?:PASS|PWD|PAT|AUTH|DSN|COOKIE))(?:_?(?:\d+|B64|BASE64|JSON|PEM|VALUE|PROD|DEV|STAGING|TEST))?$/i;
const notSecret = /^(?:OLD)?PWD$|PUBLIC_?KEY$|KEY_?ID$|^(?:SSH|GPG|XAUTH|DBUS|TERM|KEYBOARD)/i;
/** Addresses with a password: of those only the password is secret. */
const withPassword = /^[a-z][a-z0-9+.-]*:\/\/[^\s:@/]*:([^\s@]+)@/i;

/** What must never be written down: the values of the models' keys, and of every variable whose name or value says so. */
export function secretsOf(keyVariables: Iterable<string>, env: Environment): Secret[] {
  const keys = new Set(['OPENAI_API_KEY', ...keyVariables]);
  const secrets: Secret[] = [];
  for (const name of keys) {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value) secrets.push({name, value, named: true});
    // Of a secret of Standard Webhooks the prefix is none.
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
