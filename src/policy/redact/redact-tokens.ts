import {
  ALNUM,
  characterKinds,
  DOTTED,
  isMixed,
  isStart,
  LOWER_HEX,
  PATH64,
  runEnd,
  URL64,
  WORD,
} from './redact-characters.ts';
import type {Matcher} from './redact-scan.ts';

/** Tokens with a known prefix, followed by a number of characters of given classes. */
interface TokenKind {
  label: string;
  prefixes: readonly string[];
  body: number;
  least: number;
  /** Maximum length of a token; the rest is not part of it. */
  most?: number;
  /** The length is exactly `least`, and no letter or digit follows. */
  exact?: boolean;
  /** The prefix must start a word, because common words end with it. */
  start?: boolean;
  /** One part between dashes has this many mixed characters, unlike names of several words. */
  part?: number;
}

const MAX_TOKEN = 400;

/** As in gitleaks and trufflehog. */
const kinds: readonly TokenKind[] = [
  {label: 'Anthropic key', prefixes: ['sk-ant-'], body: URL64, least: 20},
  {label: 'OpenAI key', prefixes: ['sk-proj-', 'sk-svcacct-', 'sk-admin-'], body: URL64, least: 20},
  {label: 'OpenRouter key', prefixes: ['sk-or-v1-'], body: ALNUM, least: 32},
  {label: 'OpenAI key', prefixes: ['sk-'], body: URL64, least: 20, start: true, part: 16},
  {label: 'GitHub token', prefixes: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], body: ALNUM, least: 36},
  {label: 'GitHub token', prefixes: ['github_pat_'], body: WORD, least: 40, most: 100},
  {
    label: 'GitLab token',
    prefixes: ['glpat-', 'gldt-', 'glrt-', 'glptt-', 'glcbt-', 'glagent-', 'gloas-'],
    body: DOTTED,
    least: 20,
  },
  {
    label: 'Slack token',
    prefixes: ['xoxb-', 'xoxa-', 'xoxp-', 'xoxr-', 'xoxs-', 'xoxe-', 'xoxo-', 'xoxc-', 'xoxd-', 'xoxe.xox', 'xapp-'],
    body: URL64,
    least: 20,
  },
  {label: 'Slack webhook', prefixes: ['hooks.slack.com/'], body: PATH64, least: 40},
  {
    label: 'Discord webhook',
    prefixes: ['discord.com/api/webhooks/', 'discordapp.com/api/webhooks/'],
    body: PATH64,
    least: 60,
  },
  {label: 'AWS key id', prefixes: ['AKIA', 'ASIA', 'ABIA', 'ACCA'], body: ALNUM, least: 16, exact: true, start: true},
  {label: 'Google API key', prefixes: ['AIza'], body: URL64, least: 35, most: 35},
  {label: 'Google OAuth secret', prefixes: ['GOCSPX-'], body: URL64, least: 28},
  {label: 'Google OAuth token', prefixes: ['ya29.'], body: DOTTED, least: 30},
  {
    label: 'Stripe key',
    prefixes: ['sk_live_', 'rk_live_', 'sk_test_', 'rk_test_', 'sk_prod_', 'rk_prod_', 'whsec_'],
    body: ALNUM,
    least: 16,
  },
  {label: 'npm token', prefixes: ['npm_'], body: ALNUM, least: 36},
  {label: 'PyPI token', prefixes: ['pypi-AgE'], body: URL64, least: 50},
  {label: 'RubyGems key', prefixes: ['rubygems_'], body: ALNUM, least: 48},
  {label: 'Hugging Face token', prefixes: ['hf_', 'api_org_'], body: ALNUM, least: 30, start: true},
  {label: 'SendGrid key', prefixes: ['SG.'], body: DOTTED, least: 60, start: true},
  {
    label: 'Twilio key',
    prefixes: [...'0123456789abcdef'].map(digit => `SK${digit}`),
    body: LOWER_HEX,
    least: 31,
    exact: true,
    start: true,
  },
  {label: 'Telegram bot token', prefixes: [':AA'], body: URL64, least: 33, most: 33},
  {label: 'Docker token', prefixes: ['dckr_pat_', 'dckr_oat_'], body: URL64, least: 24},
  {label: 'DigitalOcean token', prefixes: ['dop_v1_', 'doo_v1_', 'dor_v1_'], body: ALNUM, least: 40},
  {label: 'Databricks token', prefixes: ['dapi'], body: LOWER_HEX, least: 32, exact: true, start: true},
  {label: 'Shopify token', prefixes: ['shpat_', 'shpca_', 'shppa_', 'shpss_'], body: ALNUM, least: 32},
  {label: 'Vault token', prefixes: ['hvs.', 'hvb.'], body: URL64, least: 60},
  {label: 'Groq key', prefixes: ['gsk_'], body: ALNUM, least: 40},
  {label: 'xAI key', prefixes: ['xai-'], body: ALNUM, least: 60},
  {label: 'Perplexity key', prefixes: ['pplx-'], body: ALNUM, least: 40},
  {label: 'Replicate token', prefixes: ['r8_'], body: ALNUM, least: 37, start: true},
  {label: 'Linear key', prefixes: ['lin_api_'], body: ALNUM, least: 32},
  {label: 'Notion token', prefixes: ['ntn_'], body: ALNUM, least: 40},
  {label: 'Atlassian token', prefixes: ['ATATT3'], body: URL64 | PATH64, least: 80},
  {label: 'Grafana token', prefixes: ['glsa_', 'glc_'], body: PATH64, least: 32},
  {label: 'Supabase token', prefixes: ['sbp_'], body: ALNUM, least: 40},
  {label: 'Sentry token', prefixes: ['sntrys_', 'sntryu_'], body: PATH64, least: 40},
  {label: 'age key', prefixes: ['AGE-SECRET-KEY-1'], body: ALNUM, least: 50},
];

export const tokenLabels: readonly string[] = kinds.map(({label}) => label);

export const tokenMatchers: readonly Matcher[] = kinds.map(kind => ({
  anchors: kind.prefixes,
  match(text, at, final, anchor) {
    const {label, body, least, most = MAX_TOKEN, exact, start, part} = kind;
    if (start && !isStart(text, at)) return undefined;
    const from = at + anchor.length;
    let end = runEnd(text, from, body, from + (exact ? least : most));
    if (end === text.length && end < from + most && !final) return 'more';
    while (end > from && '.-/'.includes(text.charAt(end - 1))) end--;
    if (end - from < least || (exact && (characterKinds(text, end) & ALNUM) !== 0)) return undefined;
    const found = text.slice(from, end);
    if (!isToken(found) || (part !== undefined && !isBody(found, part))) return;
    return {start: label === 'Telegram bot token' ? at + 1 : at, end, label};
  },
}));

/** Hardly any token is all letters; examples in manuals end in EXAMPLE, and placeholders repeat one character. */
function isToken(body: string): boolean {
  if (/EXAMPLE/.test(body) || /x{8}|X{8}|0{16}/.test(body)) return false;
  return isMixed(body) || (body.length >= 30 && /[a-z]/.test(body) && /[A-Z]/.test(body) && !/[_-]/.test(body));
}

/** A body that begins with several words is a name, unless a longer part with both letter cases follows. */
function isBody(found: string, length: number): boolean {
  const parts = found.split(/[-_]/);
  const isName = parts.filter(part => /^[a-z]{3,}$/.test(part)).length >= 2;
  return parts.some(
    part =>
      isMixed(part) && (isName ? part.length >= 24 && /[a-z]/.test(part) && /[A-Z]/.test(part) : part.length >= length),
  );
}
