import type {Delivery, Event} from './delivery.ts';
import {given, type Json, list, object, text} from './fields.ts';

const MOST_COMMITS = 20;

/** GitHub's events, in words, with the text that somebody wrote. */
export function githubEvent(payload: Json, {header, ids, now}: Delivery): Event {
  const name = header('x-github-event') ?? '';
  const delivery = header('x-github-delivery');
  if (!/^[a-z_]{1,60}$/.test(name)) return {garbage: 'expected X-GitHub-Event'};
  if (name === 'ping') return {nothing: 'GitHub made sure of the address'};
  const [digest = ''] = ids;
  const repo = text(object(payload.repository).full_name);
  const about = subjectOf(payload);
  const number = typeof about.number === 'number' ? about.number : undefined;
  const from = text(object(payload.sender).login);
  const action = text(payload.action);
  const place = [repo, number === undefined ? undefined : `#${number}`].filter(Boolean).join('');
  const said = object(payload.comment ?? payload.review ?? (action === 'edited' || action === 'opened' ? about : {}));
  const body = text(said.body);
  const head = `${[name.replaceAll('_', ' '), action].filter(Boolean).join(' ')}${from ? ` by ${from}` : ''}${place ? ` in ${place}` : ''}`;
  const title = text(about.title) ?? text(about.name) ?? text(about.tag_name);
  const state = text(about.conclusion) ?? text(object(payload.review).state) ?? text(about.status);
  const url = text(said.html_url) ?? text(about.html_url) ?? text(payload.compare);
  const lines = [
    [head, title && `: ${title}`, state && ` (${state})`].filter(Boolean).join(''),
    ...commitsOf(payload),
    ...(body === undefined ? [] : ['', body]),
    ...(url === undefined ? [] : ['', url]),
  ];
  return {
    // The id is not signed: it only tells of GitHub's own second tries.
    ids: [digest, ...(delivery ? [`github-delivery:${delivery}`] : [])],
    record: given({
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

/** What it is about: an issue, a pull request, a run, a release … */
function subjectOf(payload: Json): Json {
  const kinds =
    'issue pull_request discussion workflow_run check_run check_suite deployment_status release alert'.split(' ');
  return object(kinds.map(kind => payload[kind]).find(value => typeof value === 'object' && value !== null));
}

/** Of a push. */
function commitsOf(payload: Json): string[] {
  const commits = list(payload.commits).map(object);
  const ref = text(payload.ref);
  if (commits.length === 0 || ref === undefined) return [];
  const lines = commits
    .slice(0, MOST_COMMITS)
    .map(({id, message}) => `- ${String(id ?? '').slice(0, 10)} ${(text(message) ?? '').split('\n')[0]}`);
  const more = commits.length > lines.length ? [`- and ${commits.length - lines.length} more`] : [];
  return [`${ref}:`, ...lines, ...more];
}
