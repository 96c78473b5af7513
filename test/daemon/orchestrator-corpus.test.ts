import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, it, onTestFinished} from 'vitest';
import {parseSession, type Session, sessionText} from '../../src/formats/session/session.ts';
import {appendMessage} from '../../src/formats/session/session-edit.ts';
import {agentdir, newHome, put, root, until} from '../cli/run.ts';
import {startFakeOpenAI} from '../model/fake-openai.mjs';
import {read, serve} from './serve.ts';

const corpus = join(root, '../shared/corpus/orchestrator-002');
const files: Record<string, string> = {};
if (existsSync(corpus)) {
  for (const entry of readdirSync(corpus, {recursive: true, withFileTypes: true})) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) files[path.slice(corpus.length + 1)] = readFileSync(path, 'utf8');
  }
} else console.warn(`skipped: the files of the system that seed 002 describes are not in ${corpus}`);

const sessions = Object.keys(files).filter(path => path.startsWith('sessions/'));
const maybe = it.skipIf(sessions.length === 0);

/** The person sets another model and writes a message. */
const asked = (text: string, model: string) =>
  sessionText(
    appendMessage(parseSession(text.replace(/^model: .*/m, `model: ${model}`)), {role: 'user', content: 'Go on.'}),
  );

const isAnswered = ({header, messages}: Session) =>
  header?.status === 'sleeping' && messages.at(-1)?.role === 'assistant' && !messages.at(-1)?.tool_calls;

/** The messages of `before` are still in the file, in order, byte for byte but for keys that were filled in. */
function expectKept(before: string, after: string): void {
  const filledIn = /^ {4}(?:from: human|started: .*|run: .*)\n/gm;
  const items = parseSession(after).items?.map(({text}) => text.replace(filledIn, '')) ?? [];
  const kept = parseSession(before).items?.map(({text}) => text) ?? [];
  expect(kept.length).toBeGreaterThan(0);
  expect(items.filter(text => kept.includes(text))).toEqual(kept);
}

maybe('the files of seed 002 have no errors, and check rewrites none', async () => {
  const home = await newHome(files);
  const {code, stdout} = await agentdir(home, ['check', '--json']);
  const {problems} = JSON.parse(stdout) as {problems: {severity: string; code: string}[]};
  expect(problems.filter(({severity}) => severity === 'error')).toEqual([]);
  expect(code).toBe(0);
  expect(problems.map(each => each.code)).toContain('UNKNOWN_TOOL');
  for (const [path, text] of Object.entries(files)) expect(read(home, path)).toBe(text);
});

maybe('their sessions go on with the built-in model, and stay as written', async () => {
  const home = await newHome(files);
  put(home, Object.fromEntries(sessions.map(path => [path, asked(files[path] ?? '', 'playbook')])));
  const served = await serve(home);
  await until(
    () => sessions.filter(path => !isAnswered(parseSession(read(home, path)))),
    waiting => waiting.length === 0,
  );
  await served.stop();
  for (const path of sessions) expectKept(files[path] ?? '', read(home, path));
});

maybe('a strict model server accepts their histories', async () => {
  const server = await startFakeOpenAI();
  onTestFinished(() => server.close());
  const home = await newHome(files);
  put(home, Object.fromEntries(sessions.map(path => [path, asked(files[path] ?? '', 'fake-1')])));
  const served = await serve(home, {OPENAI_BASE_URL: server.url, OPENAI_MODEL: 'fake-1'});
  await until(
    () => ({waiting: sessions.filter(path => !isAnswered(parseSession(read(home, path)))), refused: server.violations}),
    ({waiting, refused}) => waiting.length === 0 || refused.length > 0,
  );
  await served.stop();
  expect(server.violations).toEqual([]);
  expect(server.count).toBeGreaterThanOrEqual(sessions.length);
  for (const path of sessions) expectKept(files[path] ?? '', read(home, path));
});
