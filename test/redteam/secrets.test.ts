import {execFileSync} from 'node:child_process';
import {mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {agentdir, environment, put, until} from '../cli/run.ts';
import {makeTalkingHome} from '../daemon/house.ts';
import {read, serve} from '../daemon/serve.ts';
import {begin, pathOf, type Stage, sessionOf, setStage} from '../daemon/talk.ts';
import type {Reaction} from '../model/fake-openai.mjs';
import {expectReplayed} from '../replayed.ts';
import {formsOf, KEY, PEM, tokens} from './secret-forms.ts';

/**
 * A model and a workspace that give away secrets in every way they can. What must come of it: nothing of it is in the
 * home, in git, in the daemon's own files or in what it prints.
 */
interface Case {
  name: string;
  /** What the model answers, in turn; then it says "done". */
  answers: Reaction[];
  /** What must be nowhere. */
  hidden: string;
  /** What stands there instead, in the session. */
  instead: string;
}

const INSTEAD = '[redacted: OPENAI_API_KEY]';
const ODD = 'Lk3vB8qW1zX6-odd-value-of-a-lab';
const DIGITS = '83920174650293847561';
const github = `ghp_${'a8Kz0Qm4Xr7Tp2Wd9Ls5'.repeat(2).slice(0, 36)}`;

/** An answer whose text comes in pieces of this size. */
function inPieces(text: string, size: number): Reaction {
  const pieces = text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
  const event = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({id: 'x', object: 'chat.completion.chunk', model: 'fake-1', choices: [{index: 0, delta, finish_reason}]})}\n\n`;
  return {
    headers: {'content-type': 'text/event-stream'},
    raw: `${pieces.map(content => event({content})).join('')}${event({}, 'stop')}data: [DONE]\n\n`,
  };
}

const says = (text: string): Reaction => ({text: `It is ${text} as asked.`});
const calls = (name: string, args: string | object, id?: string): Reaction => ({
  calls: [{name, arguments: args, ...(id !== undefined && {id})}],
});
const core = (form: string) => form.slice(6, Math.min(30, form.length - 6));

const cases: Case[] = [
  ...Object.entries(formsOf(KEY)).map(([name, form]) => ({
    name: `the model says the key, ${name}`,
    answers: [says(form)],
    hidden: core(form),
    instead: INSTEAD,
  })),
  ...(['plain', 'base64', 'hex', 'JSON with \\u throughout', 'URL-encoded throughout'] as const).flatMap(name =>
    [1, 5].map(size => ({
      name: `the model says it ${name}, in pieces of ${size}`,
      answers: [inPieces(`So: ${formsOf(KEY)[name]} is it`, size)],
      hidden: core(formsOf(KEY)[name] ?? ''),
      instead: INSTEAD,
    })),
  ),
  {
    name: 'a private key in pieces',
    answers: [inPieces(PEM, 9)],
    hidden: PEM.slice(40, 70),
    instead: '[redacted: private key]',
  },
  {name: 'a refusal', answers: [{refusal: `I will not say ${KEY}`}], hidden: core(KEY), instead: INSTEAD},
  {name: 'the name of the model', answers: [{text: 'hi', model: `m-${KEY}`}], hidden: core(KEY), instead: INSTEAD},
  {
    name: 'arguments',
    answers: [calls('create_file', {path: 'a1.txt', content: `x ${KEY}`})],
    hidden: core(KEY),
    instead: INSTEAD,
  },
  {
    name: 'arguments with a key twice',
    answers: [calls('write_file', `{"path": "dup.txt", "content": "${KEY}", "content": "ok"}`)],
    hidden: core(KEY),
    instead: 'dup.txt',
  },
  {
    name: 'arguments with a number',
    answers: [calls('write_file', `{"path": "number.txt", "content": ${DIGITS}}`)],
    hidden: core(DIGITS),
    instead: '[redacted: DIGITS_KEY]',
  },
  {
    name: 'arguments with JSON in them',
    answers: [calls('create_file', {path: 'a2.txt', content: JSON.stringify({k: JSON.stringify({k: KEY})})})],
    hidden: core(KEY),
    instead: INSTEAD,
  },
  {
    name: 'arguments with base64 in them',
    answers: [calls('create_file', {path: 'a3.txt', content: Buffer.from(`user:${KEY}`).toString('base64')})],
    hidden: core(Buffer.from(KEY).toString('base64')),
    instead: INSTEAD,
  },
  {name: 'a path', answers: [calls('read_file', {path: `${KEY}.txt`})], hidden: core(KEY), instead: INSTEAD},
  {
    name: 'arguments that are no JSON',
    answers: [calls('read_file', `{"path": "${KEY}`)],
    hidden: core(KEY),
    instead: INSTEAD,
  },
  {name: 'the name of a tool', answers: [calls(`tool_${KEY}`, {})], hidden: core(KEY), instead: INSTEAD},
  {name: 'the id of a call', answers: [calls('list_agents', {}, `call_${KEY}`)], hidden: core(KEY), instead: INSTEAD},
  {
    name: 'a token in a file',
    answers: [calls('read_file', {path: 'token.txt'})],
    hidden: core(github),
    instead: '[redacted: GitHub token]',
  },
  {
    name: 'a private key in a file',
    answers: [calls('read_file', {path: 'id_rsa'})],
    hidden: PEM.slice(40, 70),
    instead: '[redacted: private key]',
  },
  {
    name: 'the key in a file, in lines of base64',
    answers: [calls('read_file', {path: 'lines.txt'})],
    hidden: core(Buffer.from(KEY).toString('base64')),
    instead: INSTEAD,
  },
  ...tokens
    .filter(({secret}) => !secret.startsWith('-----'))
    .filter((_, i) => i % 4 === 0)
    .map(({name, text, secret, label}) => ({
      name: `the model says a credential, ${name}`,
      answers: [says(text)],
      hidden: core(secret),
      instead: `[redacted: ${label}]`,
    })),
  {
    name: 'a server that repeats the key in its refusal',
    answers: [
      {
        status: 401,
        error: {message: `Incorrect API key provided: ${KEY}. You can find your API key at https://x.org.`},
      },
    ],
    hidden: core(KEY),
    instead: 'does not accept the key',
  },
  {
    name: 'a server that repeats it encoded',
    answers: [{status: 400, error: {message: `bad header ${Buffer.from(`Bearer ${KEY}`).toString('base64')}`}}],
    hidden: core(Buffer.from(KEY).toString('base64')),
    instead: 'redacted',
  },
  {
    name: 'a server that repeats it in a failure that passes',
    answers: [{status: 500, error: {message: `upstream said ${KEY}`}}],
    hidden: core(KEY),
    instead: 'done',
  },
  {
    name: 'a key of settings that were changed meanwhile',
    answers: [says(ODD)],
    hidden: core(ODD),
    instead: '[redacted: LAB_ACCESS]',
  },
];

const idOf = (i: number) => `case${i}`;
const dir = mkdtempSync(join(tmpdir(), 'agentdir-test-'));
const home = join(dir, 'home');
/** All that is anywhere, by where it is. */
const found = new Map<string, string>();
let stage: Stage;
let kill = async () => {};

beforeAll(async () => {
  stage = await setStage();
  await makeTalkingHome(home);
  put(home, {
    'workspaces/talker/token.txt': `# for the robot\nGITHUB=${github}\n`,
    'workspaces/talker/id_rsa': `${PEM}\n`,
    'workspaces/talker/lines.txt': Buffer.from(`${'k'.repeat(50)}${KEY}${'k'.repeat(50)}`)
      .toString('base64')
      .replace(/.{64}/g, '$&\n'),
  });
  for (const [i, {answers}] of cases.entries()) stage.parts.set(idOf(i), (_, nth) => answers[nth] ?? {text: 'done'});
  const env = {...stage.env, OPENAI_API_KEY: KEY, LAB_ACCESS: ODD, DIGITS_KEY: DIGITS};
  const daemon = await serve(home, env, end => {
    kill = end;
  });
  const settings = join(home, 'agentdir.yaml');
  writeFileSync(
    settings,
    `${readFileSync(settings, 'utf8')}\nmodels:\n  - {id: lab, base_url: "${stage.server.url}", api_key_env: LAB_ACCESS}\n`,
  );
  await until(
    () => daemon.events.filter(({event, subject}) => event === 'committed' && String(subject).startsWith('settings')),
    events => events.length > 0,
  );
  for (const i of cases.keys()) begin(home, idOf(i), `${idOf(i)} please`);
  await until(
    () =>
      [...cases.keys()]
        .filter(i => !/^status: (?:sleeping|error|waiting)/m.test(read(home, pathOf(idOf(i)))))
        .map(i => cases[i]?.name),
    busy => busy.length === 0,
  );
  expect(await daemon.stop(), daemon.errors()).toBe(0);
  found.set('stdout', daemon.events.map(event => JSON.stringify(event)).join('\n'));
  found.set('stderr', daemon.errors());
  collect(home);
});

afterAll(async () => {
  await kill();
  await stage?.server.close();
  await expectReplayed(home);
  rmSync(dir, {recursive: true, force: true});
});

/** Every file, git's packed and loose objects unpacked; but for the workspace's files, which had the secrets before. */
function collect(folder: string): void {
  for (const entry of readdirSync(folder, {withFileTypes: true, recursive: true})) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !/workspaces\/talker\/(?:token\.txt|id_rsa|lines\.txt)$/.test(path))
      found.set(path, readFileSync(path, 'latin1'));
  }
  const objects = execFileSync('git', ['cat-file', '--batch-all-objects', '--batch', '--buffer'], {
    cwd: folder,
    env: environment,
    maxBuffer: 256 * 1024 * 1024,
  });
  found.set('git', objects.toString('latin1'));
}

/** Also where JSON has escaped it once more. */
function placesOf(secret: string): string[] {
  const forms = [secret, JSON.stringify(secret).slice(1, -1), JSON.stringify(JSON.stringify(secret)).slice(3, -3)];
  return [...found].filter(([, text]) => forms.some(form => text.includes(form))).map(([where]) => where);
}

describe('secrets in output', () => {
  it('there are enough ways', () => {
    expect(cases.length).toBeGreaterThan(60);
    expect([...found.keys()].some(path => path.includes('.agentdir/live/'))).toBe(true);
    expect(found.get('git')).toContain('case0 please');
  });

  it.each(cases.map((each, i) => ({...each, id: idOf(i)})))('$name', ({hidden, instead, id}) => {
    expect(hidden.length).toBeGreaterThan(5);
    expect(placesOf(hidden)).toEqual([]);
    expect(read(home, pathOf(id))).toContain(instead);
    expect(sessionOf(home, id).problems).toEqual([]);
  });

  it('what was recorded is what counts: nothing is written where a secret was', () => {
    for (const name of ['a1.txt', 'a2.txt']) expect(read(home, `workspaces/talker/${name}`)).toBe('');
  });

  it('none of it is anywhere, in any form', () => {
    for (const [name, form] of Object.entries(formsOf(KEY))) expect(placesOf(core(form)), name).toEqual([]);
    expect(placesOf(core(github))).toEqual([]);
  });
});

describe('a person', () => {
  it('sends no secret into a file by accident, and is told', async () => {
    const text = `use ${KEY} and ${github} or ${github}`;
    const env = {...environment, OPENAI_API_KEY: KEY};
    const sent = await agentdir(home, ['send', text, '--to', 'talker', '--json'], env);
    expect(sent.code, sent.stderr).toBe(0);
    expect(sent.stderr).toContain('note: 1 OPENAI_API_KEY was replaced before writing');
    expect(sent.stderr).toContain('note: 2 × GitHub token were replaced before writing');
    const {path, replaced} = JSON.parse(sent.stdout) as {path: string; replaced: unknown};
    expect(replaced).toEqual([
      {what: 'OPENAI_API_KEY', count: 1},
      {what: 'GitHub token', count: 2},
    ]);
    expect(read(home, path)).toContain('use [redacted: OPENAI_API_KEY] and [redacted: GitHub token] or');
    found.clear();
    collect(home);
    expect(placesOf(core(KEY))).toEqual([]);
    expect(placesOf(core(github))).toEqual([]);
  });

  it('writes what they want with an editor; the log of a daemon does not repeat it, and check warns', async () => {
    const typed = `agent_id: talker\nstatus: actve ${github}\nmessages:\n  - role: user\n    content: ${github}\n`;
    put(home, {'sessions/typed.session.yaml': typed});
    expect((await agentdir(home, ['start', '--background'])).code).toBe(0);
    const log = await until(
      () => read(home, '.agentdir/daemon.log'),
      text => text.includes('typed.session.yaml:2'),
    ).finally(() => agentdir(home, ['stop']));
    expect(read(home, 'sessions/typed.session.yaml')).toBe(typed);
    expect(log).toContain('[redacted: GitHub token]');
    expect(log).not.toContain(core(github));
    expect(read(home, 'NEEDS_YOU.md')).toContain('[redacted: GitHub token]');
    expect(read(home, 'NEEDS_YOU.md')).not.toContain(core(github));
    const check = await agentdir(home, ['check', 'sessions/typed.session.yaml']);
    expect(check.stdout).toContain('typed.session.yaml:5:14: warning SECRET_IN_FILE');
  });
});
