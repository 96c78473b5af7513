import {failure} from '../tool/failure.ts';
import type {ToolFailure} from '../tool/tool.ts';
import {notReachedCode, unknownOutcome} from './outcome.ts';
import type {SlackAccess} from './set-up.ts';

const MOST_MS = 30_000;

export type SlackAnswer = Readonly<Record<string, unknown>>;

const NEW_TOKEN = 'a person has to install the app again, set its new token, and restart the daemon';

const hints: Readonly<Record<string, string>> = {
  channel_not_found: 'there is no such channel, or the bot cannot see it',
  not_in_channel: 'the bot is not in this channel: a person has to invite it there (/invite)',
  is_archived: 'the channel is archived',
  invalid_auth: `the token is not valid; ${NEW_TOKEN}`,
  not_authed: `the token is not valid; ${NEW_TOKEN}`,
  token_revoked: `the token was revoked; ${NEW_TOKEN}`,
  token_expired: `the token has expired; ${NEW_TOKEN}`,
  account_inactive: `the bot was removed; ${NEW_TOKEN}`,
  missing_scope: 'the app lacks a scope; a person has to add it and install the app again',
  thread_not_found: 'there is no such thread in this channel',
  msg_too_long: 'the message is too long',
  ratelimited: 'too many messages; wait a minute',
};

/**
 * Send one request without retries: a post may have succeeded although no answer arrived. `posts` marks requests whose
 * outcome is then unknown; a failed read is a plain failure.
 */
export async function callSlack(
  {token, apiUrl}: SlackAccess,
  method: string,
  args: Record<string, unknown>,
  {signal, posts}: {signal: AbortSignal; posts: boolean},
): Promise<{answer: SlackAnswer} | ToolFailure> {
  // Loaded here, so that homes without Slack never load the client.
  const {WebClient, LogLevel} = await import('@slack/web-api');
  const client = new WebClient(token, {
    slackApiUrl: apiUrl,
    allowAbsoluteUrls: false,
    retryConfig: {retries: 0},
    rejectRateLimitedCalls: true,
    logLevel: LogLevel.ERROR,
    logger: silent,
    fetch: (url, init) => fetch(url, {...init, signal: AbortSignal.any([signal, AbortSignal.timeout(MOST_MS)])}),
  });
  try {
    return {answer: (await client.apiCall(method, args)) as unknown as SlackAnswer};
  } catch (error) {
    return slackFailure(error, posts);
  }
}

function slackFailure(error: unknown, posts: boolean): ToolFailure {
  const {code, data, retryAfter, statusCode, message} = error as {
    code?: string;
    data?: {error?: string; needed?: string};
    retryAfter?: number;
    statusCode?: number;
    message: string;
  };
  const refused = data?.error;
  if (code === 'slack_webapi_platform_error' && refused !== undefined) {
    // An internal error of Slack: the message may have been posted anyway.
    if (posts && (refused === 'internal_error' || refused === 'fatal_error'))
      return unknownOutcome(`Slack answers ${refused}`);
    const needed = data?.needed ? ` (${data.needed})` : '';
    const hint = hints[refused];
    return failure('FAILED', `Slack refuses it: ${refused}${needed}${hint ? `: ${hint}` : ''}`);
  }
  if (code === 'slack_webapi_rate_limited_error')
    return failure('FAILED', `Slack takes no more for now; try again in ${retryAfter ?? 60} s`);
  const reached = notReachedCode(error);
  if (reached !== undefined) return failure('FAILED', `Slack cannot be reached (${reached})`);
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return failure('FAILED', `Slack refuses it: HTTP ${statusCode}`);
  const why =
    statusCode === undefined ? `the connection to Slack failed (${message})` : `Slack answers HTTP ${statusCode}`;
  return posts ? unknownOutcome(why) : failure('FAILED', why);
}

/** Keep the client from printing to the daemon's terminal. */
const silent = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  setLevel() {},
  getLevel: () => 'error' as never,
  setName() {},
};
