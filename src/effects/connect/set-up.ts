import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import {envValue} from '../../formats/common/values.ts';
import {SLACK_FILE, SLACK_TOKEN} from '../../formats/connector-settings.ts';
import type {Settings} from '../../formats/settings.ts';
import type {ToolName} from '../../policy/tools.ts';
import {failure} from '../tool/failure.ts';
import type {Outside, ToolFailure} from '../tool/tool.ts';

type Environment = Outside['env'];

export interface SlackAccess {
  token: string;
  apiUrl: string;
  file: string;
}

const SLACK_API = 'https://slack.com/api/';

export function slackAccess({settings: {slack}, env}: Outside): SlackAccess | ToolFailure {
  const name = slack?.token_env ?? SLACK_TOKEN;
  const token = envValue(env, name);
  if (token === undefined)
    return failure(
      'FAILED',
      `Slack is not set up: a person has to set ${name} where the daemon is started. Nothing was sent`,
    );
  return {token, apiUrl: slack?.api_url ?? SLACK_API, file: slack?.file ?? SLACK_FILE};
}

/** Files in `inbox/` with messages from Slack: those of the settings, and others named for it, such as slack-ops.jsonl. */
export function slackFiles(home: string, {slack, webhooks}: Pick<Settings, 'slack' | 'webhooks'>): string[] {
  const received = (webhooks ?? []).filter(({kind}) => kind === 'slack').map(({file}) => file);
  return [...new Set([slack?.file ?? SLACK_FILE, ...received, ...namedForSlack(home)])];
}

function namedForSlack(home: string): string[] {
  try {
    return readdirSync(join(home, 'inbox')).filter(name => /^slack(?:[-_.][\w.-]*)?\.jsonl$/i.test(name));
  } catch {
    // No inbox, or not readable.
    return [];
  }
}

/** Tools that lack their settings here; models are not offered these. An inbox with Slack messages can be read without a token. */
export function notSetUp(home: string, settings: Settings, env: Environment): ReadonlySet<ToolName> {
  const missing = new Set<ToolName>();
  const hasToken = envValue(env, settings.slack?.token_env ?? SLACK_TOKEN) !== undefined;
  const hasWebhook = settings.webhooks?.some(({kind}) => kind === 'slack') ?? false;
  if (!hasToken) missing.add('slack_send');
  if (!hasToken && !hasWebhook && !settings.slack && namedForSlack(home).length === 0) missing.add('slack_read');
  if (!settings.mail?.smtp) missing.add('email_send');
  return missing;
}
