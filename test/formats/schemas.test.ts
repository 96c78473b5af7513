import {type ChildProcessByStdio, spawn} from 'node:child_process';
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join, resolve} from 'node:path';
import type {Readable, Writable} from 'node:stream';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {parseAllowlist} from '../../src/formats/allowlist.ts';
import {hasErrors, type Problem} from '../../src/formats/common/diagnostic.ts';
import {cursorText, newCursor, parseCursor} from '../../src/formats/cursor-file.ts';
import {holdsText, parseHolds} from '../../src/formats/holds-file.ts';
import {parsePlaybook} from '../../src/formats/playbook.ts';
import {parseRun} from '../../src/formats/run.ts';
import {schemaNames, schemaText} from '../../src/formats/schemas.ts';
import {newSession, parseSession, SCHEMA_LINE} from '../../src/formats/session/session.ts';
import {parseSettings} from '../../src/formats/settings.ts';
import {parseSlots, slotsText} from '../../src/formats/slots-file.ts';
import {parseSpend, spendText} from '../../src/formats/spend-file.ts';
import {newTemplate, parseTemplate} from '../../src/formats/template.ts';
import {parseWorkflow} from '../../src/formats/workflow.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const fixtures = join(root, 'test/fixtures/schemas');

describe('schemas/*.json', () => {
  it('are one for each format', () => {
    expect(readdirSync(join(root, 'schemas')).sort()).toEqual(schemaNames.map(name => `${name}.json`).sort());
  });

  it.each(schemaNames)('%s is what the parser validates with', name => {
    const text = readFileSync(join(root, 'schemas', `${name}.json`), 'utf8');
    expect(text === schemaText(name), `schemas/${name}.json is not up to date: run npm run schemas`).toBe(true);
    const schema = JSON.parse(text);
    expect(schema.$schema).toBe('http://json-schema.org/draft-07/schema#');
    expect(schema.title).toMatch(/^Agentdir /);
  });
});

interface Diagnostic {
  message: string;
  range: {start: {line: number; character: number}};
}

interface Message {
  id?: number;
  method?: string;
  params?: {items?: {section: string}[]; uri?: string; diagnostics?: Diagnostic[]};
  result?: unknown;
}

/** The real yaml-language-server, over stdio, with the network taken away. */
class Server {
  #process: ChildProcessByStdio<Writable, Readable, Readable>;
  #input = Buffer.alloc(0);
  #lastId = 0;
  #answers = new Map<number, (result: unknown) => void>();
  #published = new Map<string, (found: Diagnostic[]) => void>();
  #configured: (() => void) | undefined;
  stderr = '';

  constructor() {
    const require = createRequire(import.meta.url);
    const program = join(dirname(require.resolve('yaml-language-server/package.json')), 'bin/yaml-language-server');
    const args = ['--require', join(fixtures, 'no-network.cjs'), program, '--stdio'];
    this.#process = spawn(process.execPath, args, {stdio: ['pipe', 'pipe', 'pipe']});
    this.#process.stdout.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#process.stderr.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
  }

  async start(): Promise<void> {
    const configured = new Promise<void>(done => {
      this.#configured = done;
    });
    const capabilities = {workspace: {configuration: true}, textDocument: {publishDiagnostics: {}}};
    await this.request('initialize', {processId: process.pid, rootUri: pathToFileURL(root).href, capabilities});
    this.#send({method: 'initialized', params: {}});
    await configured;
  }

  async stop(): Promise<void> {
    const gone = new Promise(done => this.#process.once('exit', done));
    await this.request('shutdown', undefined);
    this.#send({method: 'exit'});
    await gone;
  }

  request(method: string, params: unknown): Promise<unknown> {
    const id = ++this.#lastId;
    return new Promise(done => {
      this.#answers.set(id, done);
      this.#send({id, method, params});
    });
  }

  /** What it says about a text; the file itself need not exist. */
  async diagnose(path: string, text: string): Promise<{schema: string | undefined; found: Diagnostic[]}> {
    const uri = pathToFileURL(path).href;
    const published = new Promise<Diagnostic[]>(done => this.#published.set(uri, done));
    this.#send({method: 'textDocument/didOpen', params: {textDocument: {uri, languageId: 'yaml', version: 1, text}}});
    const found = await published;
    const schemas = (await this.request('yaml/get/jsonSchema', uri)) as {uri: string}[];
    return {schema: schemas[0]?.uri, found};
  }

  #send(message: object): void {
    const body = Buffer.from(JSON.stringify({jsonrpc: '2.0', ...message}));
    this.#process.stdin.write(Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]));
  }

  #receive(chunk: Buffer): void {
    this.#input = Buffer.concat([this.#input, chunk]);
    for (;;) {
      const head = this.#input.indexOf('\r\n\r\n');
      if (head === -1) return;
      const length = Number(/Content-Length: (\d+)/i.exec(this.#input.subarray(0, head).toString())?.[1]);
      const end = head + 4 + length;
      if (this.#input.length < end) return;
      const message = JSON.parse(this.#input.subarray(head + 4, end).toString()) as Message;
      this.#input = this.#input.subarray(end);
      this.#handle(message);
    }
  }

  #handle({id, method, params, result}: Message): void {
    if (method === undefined && id !== undefined) this.#answers.get(id)?.(result);
    else if (method === 'workspace/configuration') {
      const settings = {validate: true, schemaStore: {enable: false}};
      this.#send({id, result: (params?.items ?? []).map(item => (item.section === 'yaml' ? settings : null))});
      this.#configured?.();
    } else if (method === 'textDocument/publishDiagnostics')
      this.#published.get(params?.uri ?? '')?.(params?.diagnostics ?? []);
    else if (id !== undefined) this.#send({id, result: null});
  }
}

/** Which parser and which schema a file has, by the end of its name. */
const kinds: Record<string, {schema: string; problems: (text: string) => Problem[]}> = {
  '.session.yaml': {schema: 'session', problems: text => parseSession(text).problems},
  '.agent.yaml': {
    schema: 'agent',
    problems: text => parseTemplate(text, /^id: (.*?)(?: #|$)/m.exec(text)?.[1] ?? '').problems,
  },
  '.settings.yaml': {schema: 'settings', problems: text => parseSettings(text).problems},
  'agentdir.yaml': {schema: 'settings', problems: text => parseSettings(text).problems},
  'allowlist.yaml': {schema: 'allowlist', problems: text => parseAllowlist(text).problems},
  '.playbook.yaml': {schema: 'playbook', problems: text => parsePlaybook(text).problems},
  'cursor.yaml': {schema: 'cursor', problems: text => parseCursor(text).problems},
  'slots.yaml': {schema: 'slots', problems: text => parseSlots(text).problems},
  'holds.yaml': {schema: 'holds', problems: text => parseHolds(text).problems},
  'state/agents.yaml': {schema: 'holds', problems: text => parseHolds(text).problems},
  'state/inbox/new.yaml': {schema: 'cursor', problems: text => parseCursor(text).problems},
  'state/schedules.yaml': {schema: 'slots', problems: text => parseSlots(text).problems},
  'spend.yaml': {schema: 'spend', problems: text => parseSpend(text).problems},
  'run.yaml': {schema: 'run', problems: text => parseRun(text).problems},
  '.workflow.yaml': {schema: 'workflow', problems: text => parseWorkflow(text).problems},
};

function kindOf(path: string): {schema: string; problems: (text: string) => Problem[]} {
  const found = Object.entries(kinds).find(([ending]) => path.endsWith(ending));
  if (!found) throw new Error(`what is ${path}?`);
  return found[1];
}

function below(folder: string): string[] {
  return readdirSync(join(root, folder))
    .filter(name => name.endsWith('.yaml'))
    .map(name => `${folder}/${name}`);
}

const shipped = ['agentdir.yaml', 'allowlist.yaml', ...below('templates'), ...below('playbooks')];
const good = below('test/fixtures/schemas').filter(path => path.includes('/ok.'));
const wrong = below('test/fixtures/schemas').filter(path => path.includes('/wrong') || path.includes('/missing'));

describe('yaml-language-server', () => {
  const server = new Server();
  beforeAll(() => server.start());
  afterAll(() => server.stop());

  const time = '2025-10-04T10:00:00.000Z';
  const texts: [path: string, text: string][] = [
    ...[...shipped, ...good].map((path): [string, string] => [path, readFileSync(join(root, path), 'utf8')]),
    [
      'sessions/new.session.yaml',
      newSession(
        {session_id: 'new', agent_id: 'planner-001', created: time, status: 'active'},
        [{timestamp: time, role: 'user', from: 'human', content: 'Hi: "there"\n\n- x\n'}],
        '../schemas/session.json',
      ),
    ],
    [
      'state/spend.yaml',
      spendText({
        day: '2025-10-04',
        agents: {'planner-001': {turns: 2, input_tokens: 9, output_tokens: 1, cost_usd: 0.25, unpriced_tokens: 0}},
      }),
    ],
    ['state/inbox/new.yaml', cursorText({...newCursor(2), rewritten: 9, rotated: [newCursor()]})],
    [
      'state/schedules.yaml',
      slotsText({abc: {cron: '* * * * *', to: 'ann', last: time, due: [{slot: time, missed: 2}]}}),
    ],
    ['state/agents.yaml', holdsText({ann: {status: 'stopped', at: time, by: 'Ada', why: 'it is Friday'}})],
    [
      'templates/new.agent.yaml',
      newTemplate(
        {id: 'new', type: 'planner', system_prompt: 'Plan.\n', capabilities: ['read_file']},
        '../schemas/agent.json',
      ),
    ],
  ];

  it.concurrent.each(texts)('has nothing to say about %s, by the schema it names', async (path, text) => {
    const [first = ''] = text.split('\n');
    expect(first.startsWith(SCHEMA_LINE)).toBe(true);
    const named = resolve(root, dirname(path), first.slice(SCHEMA_LINE.length));
    expect(existsSync(named), named).toBe(true);
    expect(named).toBe(join(root, 'schemas', `${kindOf(path).schema}.json`));
    const {schema, found} = await server.diagnose(join(root, path), text);
    expect(found).toEqual([]);
    expect(schema).toBe(pathToFileURL(named).href);
    expect(hasErrors(kindOf(path).problems(text))).toBe(false);
  });

  it.concurrent.each(wrong)('flags each line marked in %s and no other', async path => {
    const text = readFileSync(join(root, path), 'utf8');
    const {found} = await server.diagnose(join(root, path), text);
    const marked = text.split('\n').flatMap((line, i) => {
      const message = /# wrong: (.*)$/.exec(line)?.[1];
      return message === undefined ? [] : [{line: i + 1, message}];
    });
    expect(marked.length).toBeGreaterThan(0);
    for (const {line, message} of marked)
      expect(
        found
          .filter(d => d.range.start.line + 1 === line)
          .map(d => d.message)
          .join('\n'),
        `${path}:${line}`,
      ).toContain(message);
    const lines = (places: number[]) => [...new Set(places)].sort((a, b) => a - b);
    expect(lines(found.map(d => d.range.start.line + 1))).toEqual(marked.map(({line}) => line));
    const problems = kindOf(path)
      .problems(text)
      .filter(p => p.severity === 'error');
    expect(problems.length).toBeGreaterThan(0);
    // The flat allowlist is one of two forms, and the server explains the other.
    if (!path.includes('flat')) expect(lines(problems.map(p => p.line))).toEqual(marked.map(({line}) => line));
  });

  it('every schema has a wrong type among the fixtures', () => {
    const flagged = wrong.filter(path => readFileSync(join(root, path), 'utf8').includes('# wrong: Incorrect type'));
    expect(new Set(flagged.map(path => kindOf(path).schema))).toEqual(new Set(schemaNames));
  });

  it('asked nothing of the network, and complained about nothing', () => {
    expect(server.stderr).toBe('');
  });
});
