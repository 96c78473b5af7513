import type {Delivery, Event} from './delivery.ts';
import {asList, asObject, asText, type Json, withoutUndefined} from './fields.ts';

const MOST_COMMITS = 20;

/** Converts a GitHub event to text. */
export function githubEvent(payload: Json, {header, ids, now}: Delivery): Event {
  const name = header('x-github-event') ?? '';
  const delivery = header('x-github-delivery');
  if (!/^[a-z_]{1,60}$/.test(name)) return {garbage: 'expected X-GitHub-Event'};
  if (name === 'ping') return {nothing: 'GitHub made sure of the address'};
  const [digest = ''] = ids;
  const repo = asText(asObject(payload.repository).full_name);
  const about = subjectOf(payload);
  const number = typeof about.number === 'number' ? about.number : undefined;
  const from = asText(asObject(payload.sender).login);
  const action = asText(payload.action);
  const place = [repo, number === undefined ? undefined : `#${number}`].filter(Boolean).join('');
  const said = asObject(payload.comment ?? payload.review ?? (action === 'edited' || action === 'opened' ? about : {}));
  const body = asText(said.body);
  const head = `${[name.replaceAll('_', ' '), action].filter(Boolean).join(' ')}${from ? ` by ${from}` : ''}${place ? ` in ${place}` : ''}`;
  const title = asText(about.title) ?? asText(about.name) ?? asText(about.tag_name);
  const state = asText(about.conclusion) ?? asText(asObject(payload.review).state) ?? asText(about.status);
  const url = asText(said.html_url) ?? asText(about.html_url) ?? asText(payload.compare);
  const lines = [
    [head, title && `: ${title}`, state && ` (${state})`].filter(Boolean).join(''),
    ...commitsOf(payload),
    ...(body === undefined ? [] : ['', body]),
    ...(url === undefined ? [] : ['', url]),
  ];
  return {
    // The id is not signed; it only identifies GitHub's own retries.
    ids: [digest, ...(delivery ? [`github-delivery:${delivery}`] : [])],
    record: withoutUndefined({
      id: digest,
      ts: now,
      source: 'github',
      text: lines.join('\n'),
      from,
      event: name,
      action,
      repository: repo,
      number,
      thread: place || undefined,
      url,
      delivery,
    }),
  };
}

/** The subject: an issue, pull request, run, release … */
function subjectOf(payload: Json): Json {
  const kinds =
    'issue pull_request discussion workflow_run check_run check_suite deployment_status release alert'.split(' ');
  return asObject(kinds.map(kind => payload[kind]).find(value => typeof value === 'object' && value !== null));
}

function commitsOf(payload: Json): string[] {
  const commits = asList(payload.commits).map(asObject);
  const ref = asText(payload.ref);
  if (commits.length === 0 || ref === undefined) return [];
  const lines = commits
    .slice(0, MOST_COMMITS)
    .map(({id, message}) => `- ${String(id ?? '').slice(0, 10)} ${(asText(message) ?? '').split('\n')[0]}`);
  const more = commits.length > lines.length ? [`- and ${commits.length - lines.length} more`] : [];
  return [`${ref}:`, ...lines, ...more];
}
