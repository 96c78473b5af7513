import {readdirSync, readFileSync} from 'node:fs';
import {credentialProblems} from '../dist/check/credentials.js';
import {factsOf} from '../dist/index.js';
import {makeRedactor} from '../dist/policy/redact/redact.js';
import {median, table, times} from './measure.mjs';
import {row} from './row.mjs';

const read = path => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const all = (folder, ending) =>
  readdirSync(new URL(`../${folder}`, import.meta.url), {recursive: true})
    .filter(path => path.endsWith(ending))
    .map(path => read(`${folder}/${path}`))
    .join('\n');
/** As texts come: in one piece of memory. */
const flat = text => Buffer.from(text).toString();
const upTo = (text, size) => flat(text.repeat(Math.ceil(size / text.length)).slice(0, size));

const KEY = 'sk-proj-Zq8vT3mN5xR7cW2y_K4hJ6-pL9dF1sA0bG';
const SMALL = 1024;
const LARGE = 1_000_000;

function texts() {
  const bytes = Buffer.from(Array.from({length: 750_000}, (_, i) => (Math.imul(i, 2654435761) >>> 13) & 255));
  return {
    prose: all('docs', '.md'),
    code: all('src', '.ts'),
    JSON: JSON.stringify(JSON.parse(read('package-lock.json')), null, 1),
    base64: bytes.toString('base64'),
  };
}

/** Texts without secrets, which nearly all are; then what a check of files for credentials adds to reading them. */
export default function redact() {
  const redactor = makeRedactor([
    {name: 'OPENAI_API_KEY', value: KEY},
    {name: 'GITHUB_TOKEN', value: 'Zx81mQ0pLw73nB5v'},
  ]);
  const perKb = (text, rounds, work) =>
    (median(() => {
      for (let i = 0; i < rounds; i++) work(text);
    }) *
      1e6) /
    rounds /
    (text.length / 1024);
  const rows = Object.entries(texts()).map(([name, text]) => {
    const small = upTo(text, SMALL);
    const large = upTo(text, LARGE);
    const streamed = value => {
      const stream = redactor.stream();
      for (let at = 0; at < value.length; at += 5) stream.push(value.slice(at, at + 5));
      stream.end();
    };
    const pieces = (1024 / 5) * (small.length / 1024);
    const ofLarge = perKb(large, 1, redactor.text);
    row(`redaction of ${name} of 1 MB`, {ours: ofLarge / 1000, unit: 'µs/KB'});
    return [name, perKb(small, 200, redactor.text), ofLarge, perKb(small, 50, streamed) / pieces];
  });
  table(
    'redaction of texts without secrets: ns a KB, and for each piece of a stream',
    ['text', `of ${SMALL} characters`, `of ${LARGE}`, 'a piece of 5'],
    rows,
  );
  const hostile = [
    'token=',
    '\\',
    '\\u00',
    'github_pat_',
    '-----BEGIN PRIVATE KEY-----\n',
    'eyJaaaaaaaaaa.',
    KEY.slice(0, -1),
  ];
  table(
    'hostile texts of 1 MB and 2 MB, ms',
    ['repeated', '1 MB', '2 MB', 'ratio'],
    hostile.map(unit => {
      const [one, two] = [LARGE, 2 * LARGE].map(size => {
        const text = upTo(unit, size);
        return median(() => redactor.text(text), {least: 3, most: 5});
      });
      return [JSON.stringify(unit), one, two, times(two, one)];
    }),
  );
  const session = `agent_id: a\nmessages:\n${'  - role: user\n    content: |\n      Is Redis up, and since when?\n'.repeat(1000)}`;
  const files = {
    'sessions/a.session.yaml': session,
    'tasks/a.task.md': `## TODO\n\n${'- [ ] A @a #x "Look after it" id: t\n  description: as long as it takes\n'.repeat(1000)}`,
    'templates/planner-001.agent.yaml': read('templates/planner-001.agent.yaml'),
  };
  table(
    'a check of files: looking for credentials, beside all of it, ms',
    ['file', 'KB', 'all', 'credentials', 'part'],
    Object.entries(files).map(([path, text]) => {
      const [whole, found] = [median(() => factsOf(path, text)), median(() => credentialProblems(path, text))];
      return [path, text.length / 1000, whole, found, `${((100 * found) / whole).toFixed(1)} %`];
    }),
  );
}
