/** Made up: none of these was ever valid. */
export const KEY = 'sk-proj-Zq8vT3mN5xR7cW2y_K4hJ6-pL9dF1sA0bG';

const body = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDZ7m0v9Xq2Lc8y'.padEnd(64, 'Q').slice(0, 64);
export const PEM = [
  '-----BEGIN PRIVATE KEY-----',
  ...[1, 2, 3, 4].map(n => `${n}${body.slice(n)}`),
  'kZ8w1Q==',
  '-----END PRIVATE KEY-----',
].join('\n');

const hexOf = (value: string) => Buffer.from(value).toString('hex');
const wrapped = (text: string, columns: number, end = '\n') =>
  text.match(new RegExp(`.{1,${columns}}`, 'g'))?.join(end) ?? text;
const eachByte = (value: string, how: (byte: number) => string, between = '') =>
  [...Buffer.from(value)].map(how).join(between);
const escaped = (value: string) =>
  Array.from({length: value.length}, (_, i) => `\\u${value.charCodeAt(i).toString(16).padStart(4, '0')}`).join('');

/** A value in every form that must not be seen. */
export function formsOf(value: string): Record<string, string> {
  const base64 = Buffer.from(value).toString('base64');
  const hex = hexOf(value);
  const json = JSON.stringify(value).slice(1, -1);
  return {
    plain: value,
    base64,
    'base64 without padding': base64.replace(/=+$/, ''),
    base64url: Buffer.from(value).toString('base64url'),
    'base64 of a line': Buffer.from(`${value}\n`).toString('base64'),
    'base64 after one byte': Buffer.from(`:${value}`).toString('base64'),
    'base64 after two bytes': Buffer.from(`a:${value}`).toString('base64'),
    'base64 in lines of 64': wrapped(Buffer.from('k'.repeat(48) + value).toString('base64'), 64).slice(65),
    'base64 in short lines': wrapped(base64, 20),
    'base64 in short lines, CRLF and indented': wrapped(base64, 20, '\r\n    '),
    'base64 in short lines, in JSON': JSON.stringify(wrapped(base64, 20)).slice(1, -1),
    'base64 in a URL': encodeURIComponent(base64),
    hex,
    'hex, upper case': hex.toUpperCase(),
    'hex with colons': eachByte(value, byte => byte.toString(16).padStart(2, '0'), ':'),
    'hex with blanks': eachByte(value, byte => byte.toString(16).padStart(2, '0'), ' '),
    'hex in lines': wrapped(hex, 30),
    'hex as C writes it': eachByte(value, byte => `\\x${byte.toString(16).padStart(2, '0')}`),
    'an array of hex numbers': eachByte(value, byte => `0x${byte.toString(16).padStart(2, '0')}`, ', '),
    'an array of numbers': eachByte(value, String, ','),
    'an array of numbers, set apart': eachByte(value, String, ', '),
    'URL-encoded': encodeURIComponent(value),
    'URL-encoded, lower case': encodeURIComponent(value).replace(/%../g, code => code.toLowerCase()),
    'form-encoded': new URLSearchParams({v: value}).toString().slice(2),
    'URL-encoded throughout': eachByte(value, byte => `%${byte.toString(16).padStart(2, '0')}`),
    'URL-encoded throughout, upper case': eachByte(
      value,
      byte => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`,
    ),
    'JSON-escaped': json,
    'JSON-escaped twice': JSON.stringify(json).slice(1, -1),
    'JSON with \\u throughout': escaped(value),
    'JSON with \\u throughout, upper case': escaped(value).replace(/[a-f]/g, digit => digit.toUpperCase()),
    'JSON with \\u throughout, twice': escaped(value).replaceAll('\\', '\\\\'),
    'JSON with \\u for what is not ASCII': json.replace(/[^ -~]/g, c => escaped(c)),
    'JSON with escaped slashes': json.replaceAll('/', '\\/'),
    'with a line continued': `${value.slice(0, 9)}\\\n${value.slice(9)}`,
  };
}

interface Token {
  name: string;
  text: string;
  /** What must be gone. */
  secret: string;
  label: string;
}

const mixed = (length: number) => 'a8Kz0Qm4Xr7Tp2Wd9Ls5Hf3Jv6Bn1Cg'.repeat(4).slice(0, length);
const hex = (length: number) => '3f9a0c7e5b1d8264'.repeat(5).slice(0, length);

const token = (label: string, secret: string, around = (text: string) => text, name = label): Token => ({
  name: `${name}: ${secret.slice(0, 10)}…`,
  text: around(secret),
  secret,
  label,
});

/** Made up in the shape of the real ones. */
export const tokens: Token[] = [
  token('OpenAI key', `sk-${mixed(48)}`),
  token('OpenAI key', `sk-proj-${mixed(40)}_${mixed(20)}-${mixed(20)}`),
  token('OpenAI key', `sk-svcacct-${mixed(60)}`),
  token('OpenAI key', `sk-${hex(32)}`),
  token('OpenRouter key', `sk-or-v1-${hex(64)}`),
  token('Anthropic key', `sk-ant-api03-${mixed(90)}AA`),
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map(prefix => token('GitHub token', prefix + mixed(36))),
  token('GitHub token', `github_pat_${mixed(22)}_${mixed(59)}`),
  token('GitLab token', `glpat-${mixed(20)}`),
  token('Slack token', `xoxb-123456789012-1234567890123-${mixed(24)}`),
  token('Slack token', `xapp-1-A0123456789-1234567890123-${hex(64)}`),
  token('Slack webhook', `hooks.slack.com/services/T0${mixed(9)}/B0${mixed(9)}/${mixed(24)}`, s => `https://${s}`),
  token('AWS key id', 'AKIAQ3EGRZ7HXW2YPLMN'),
  token('AWS key id', 'ASIAQ3EGRZ7HXW2YPLMN'),
  token('AWS secret key', `${mixed(20)}/+${mixed(18)}`, s => `aws_secret_access_key = ${s}`),
  token('AWS secret key', `${mixed(20)}/+${mixed(18)}`, s => `"SecretAccessKey": "${s}",`, 'AWS secret key in JSON'),
  token('Google API key', `AIza${mixed(35)}`),
  token('Google OAuth token', `ya29.${mixed(80)}`),
  token('Stripe key', `sk_live_${mixed(24)}`),
  token('Stripe key', `rk_live_${mixed(24)}`),
  token('npm token', `npm_${mixed(36)}`),
  token('PyPI token', `pypi-AgEIcHlwaS5vcmc${mixed(80)}`),
  token('Hugging Face token', `hf_${mixed(34)}`),
  token('SendGrid key', `SG.${mixed(22)}.${mixed(43)}`),
  token('Twilio key', `SK${hex(32)}`),
  token('Telegram bot token', `AA${mixed(33)}`, s => `1234567890:${s}`),
  token('Azure storage key', `${mixed(86)}==`, s => `AccountName=x;AccountKey=${s};EndpointSuffix=core.windows.net`),
  token('JWT', `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.${mixed(43)}`),
  token('private key', PEM),
  token(
    'private key',
    PEM.replace('-----BEGIN ', '-----BEGIN RSA ').replace('-----END ', '-----END RSA '),
    undefined,
    'RSA',
  ),
  token('bearer token', mixed(40), s => `curl -H 'Authorization: Bearer ${s}' https://x.org`),
  token('authorization', 'dXNlcjpodW50ZXIyaHVudGVyMg==', s => `Authorization: Basic ${s}`),
  token('password in a URL', 'hunter2hunter2hunter2', s => `postgres://admin:${s}@db.internal:5432/app`),
  token('token in a URL', mixed(30), s => `https://${s}@host.org/x.git`),
  token('password', 'Tr0ub4dor&3x'.replace('&', '!').padEnd(20, 'Zq9'), s => `DB_PASSWORD=${s}`),
  token('API key', hex(32), s => `{"apiKey": "${s}"}`),
  token('API key', mixed(32), s => `x-api-key: ${s}`),
  token('API key', mixed(32), s => `{\\"api_key\\": \\"${s}\\"}`, 'API key in JSON in JSON'),
  token('secret', mixed(32), s => `client_secret: '${s}'`),
  token('token', mixed(32), s => `tool --auth-token ${s} run`),
  token('token', mixed(32), s => `export CI_TOKEN=${s}`),
];
