import {chmodSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import fc from 'fast-check';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {prepareCall} from '../../src/effects/tools/prepare-call.ts';
import {offers} from '../../src/effects/tools/registry.ts';
import {emptyPolicy} from '../../src/formats/rule.ts';
import {makeRedactor} from '../../src/policy/redact/redact.ts';
import {type ToolName, tools} from '../../src/policy/tools.ts';
import {type FakeSlack, startFakeSlack, TOKEN} from '../connect/fake-slack.ts';
import {type FakeSmtp, startSmtp} from '../connect/mail-servers.ts';
import {entriesBelow} from '../entries-below.ts';
import {allowAll, askAll, asking, textOf, toolHome} from './tool-home.ts';
import {site} from './web-site.ts';

const page = site((_request, answer) => answer.end('text'));
let slack: FakeSlack;
let smtp: FakeSmtp;
beforeAll(async () => {
  slack = await startFakeSlack();
  smtp = await startSmtp();
});
afterAll(async () => {
  await slack.close();
  await smtp.close();
});

/** Arguments with which each can run in the home that `filled` makes. */
const examples: Record<ToolName, object> = {
  read_file: {path: 'a.txt'},
  list_directory: {},
  create_directory: {path: 'new/folder'},
  write_file: {path: 'a.txt', content: 'other\n'},
  create_file: {path: 'new.txt', content: 'new\n'},
  edit_file: {path: 'a.txt', old: 'two', new: 'zwei'},
  glob: {pattern: '**/*.txt'},
  grep: {pattern: 'two'},
  search_files: {query: 'two'},
  execute_command: {command: 'touch made.txt'},
  ask_human: {question: 'Which one?'},
  remember: {file: 'notes.md', text: 'a note'},
  get fetch() {
    return {url: page.url};
  },
  create_task: {title: 'Check Redis'},
  update_task: {id: 'task-1', status: 'completed'},
  send_message: {to: 'planner', content: 'Redis is up'},
  recall: {query: 'two'},
  query_tasks: {query: 'SELECT id FROM tasks'},
  list_agents: {},
  list_sessions: {},
  slack_send: {channel: '#ops', text: 'Redis is up'},
  slack_read: {},
  email_send: {to: 'ann@example.org', subject: 'Redis', text: 'It is up'},
  channel_send: {message: '@coder begin'},
  channel_read: {},
  channel_peek: {limit: 5},
  document_read: {},
  document_write: {content: '# Notes'},
  document_append: {content: 'more'},
  task: {agent_type: 'coder', description: 'Look at the log'},
  agent_spawn: {name: 'helper'},
  agent_list: {},
};

function filled(changes = {}) {
  const made = toolHome({
    agents: () => [{id: 'coder', type: 'worker', description: 'writes code'}],
    sessions: () => [{id: 'coder-1', agent: 'coder', status: 'active', updated: '2026-01-01T00:00:00.000Z'}],
    outside: {
      settings: {
        slack: {api_url: slack.url},
        mail: {smtp: {host: '127.0.0.1', port: smtp.port, secure: false, from: 'agents@example.org'}},
      },
      env: {SLACK_BOT_TOKEN: TOKEN},
      messageName: 'one call',
      sent: async () => {},
    },
    ...changes,
  });
  writeFileSync(join(made.workspace, 'a.txt'), 'one\ntwo\nthree\n');
  return made;
}

/** Every path, with its content. */
function treeOf(folder: string): [string, string][] {
  return entriesBelow(folder)
    .map((entry): [string, string] => {
      const path = join(entry.parentPath, entry.name);
      return [path, entry.isFile() ? readFileSync(path, 'utf8') : ''];
    })
    .sort();
}

it('no rule lets an agent choose the model of an agent that it adds, unless agentdir.yaml lists it', async () => {
  const outside = {settings: {models: [{id: 'gpt-5'}]}, env: {}, messageName: 'one call', sent: async () => {}};
  const {context} = filled({outside});
  const asks = async (model: Record<string, string>) => {
    const call = {name: 'agent_spawn', arguments: JSON.stringify({name: 'helper', ...model})};
    const ready = await prepareCall(call, ['agent_spawn'], allowAll, context);
    return 'refused' in ready ? ready.refused : ready.asks;
  };
  expect(await asks({})).toBe(false);
  expect(await asks({provider: 'openai', model: 'gpt-5'})).toBe(false);
  expect(await asks({provider: 'openai', model: 'gpt-5-pro'})).toBe(true);
  expect(await asks({model: 'evil/model'})).toBe(true);
});

describe.each(Object.keys(tools) as ToolName[])('the contract of a tool: %s', name => {
  const call = (args: unknown) => ({name, arguments: typeof args === 'string' ? args : JSON.stringify(args)});

  it('is offered with a schema made from its definition', () => {
    const [offer] = offers([name]);
    expect(offer).toMatchObject({name, description: tools[name].description});
    expect(offer?.parameters).toMatchObject({type: 'object', additionalProperties: false});
    expect(Object.keys(offer?.parameters.properties ?? {})).toEqual(Object.keys(tools[name].arguments.shape));
    expect(offers([name])[0]?.parameters).toBe(offer?.parameters);
  });

  it('runs with valid arguments, and its result is JSON', async () => {
    const {context} = filled();
    const ready = await prepareCall(call(examples[name]), [name], allowAll, context);
    if ('refused' in ready) throw new Error(JSON.stringify(ready.refused));
    expect(ready.effect).toBe(tools[name].effect);
    const result = await ready.execute();
    // A question has no other end than an answer.
    expect(result).toMatchObject({success: name !== 'ask_human'});
    expect(JSON.parse(JSON.stringify(result))).toEqual(result);
    expect(JSON.stringify(result)).not.toContain(context.home);
  });

  it('changes the home if and only if its effect says so', async () => {
    const {run, home} = filled();
    const before = treeOf(home);
    await run(name, examples[name]);
    expect(JSON.stringify(treeOf(home)) !== JSON.stringify(before)).toBe(tools[name].effect === 'write');
  });

  it('shows what it would do, and does not do it', async () => {
    const {context, workspace} = filled();
    const {ask} = await asking(context, name, examples[name]);
    expect(ask.title).toMatch(/^\S.*$/);
    expect(textOf(ask)).toMatch(/:\n\S/);
    if (ask.edits) expect(ask.parts.map(part => part.label)).toContain(ask.edits.label);
    expect(JSON.parse(JSON.stringify(ask))).toEqual(ask);
    expect(JSON.stringify(ask)).not.toContain(context.home);
    expect(readdirSync(workspace)).toEqual(['a.txt']);
    expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
  });

  it('refuses what does not fit its schema', async () => {
    const {context} = filled();
    for (const args of [
      '{',
      '[]',
      '"x"',
      'null',
      '{"no_such_argument": 1}',
      '{"__proto__": {}}',
      '{"path": {}, "agent": []}',
    ]) {
      const {refused} = (await prepareCall(call(args), [name], allowAll, context)) as {refused: {error: string}};
      expect(refused, args).toMatchObject({success: false, code: 'INVALID_ARGUMENTS'});
      expect(refused.error).toContain(`${name} takes {`);
    }
  });

  it('never throws, whatever it is given and wherever it runs', async () => {
    const odd = fc.oneof(
      fc.string(),
      fc.constantFrom('..', '/', 'a.txt', '.', '\0', 'a\\', '[', '(', '**', '{', 'x/y'),
    );
    const value = fc.oneof(odd, fc.boolean(), fc.nat(3), fc.constant(null));
    const keys = Object.keys(tools[name].arguments.shape);
    const args = fc.record(Object.fromEntries(keys.map(key => [key, value])), {requiredKeys: []});
    const {context} = filled();
    await fc.assert(
      fc.asyncProperty(args, fc.constantFrom('coder', '../up', '', 'no.such'), async (given, agent) => {
        const ready = await prepareCall(call(given), [name], allowAll, {...context, agent});
        const asked = await prepareCall(call(given), [name], askAll, {...context, agent});
        const shown = 'refused' in asked ? asked.refused : await asked.ask?.();
        expect(JSON.stringify(shown)).not.toContain(context.home);
        const result = 'refused' in ready ? ready.refused : await ready.execute();
        expect(typeof result.success).toBe('boolean');
        if (!result.success) expect(result.error).not.toBe('');
        expect(JSON.stringify(result)).not.toContain(context.home);
      }),
      {numRuns: 25},
    );
    const gone = await prepareCall(call(examples[name]), [name], allowAll, {...context, home: `${context.home}/gone`});
    if (!('refused' in gone)) expect(typeof (await gone.execute()).success).toBe('boolean');
  });

  it('does not begin once it is stopped', async () => {
    const made = filled({signal: AbortSignal.abort()});
    expect(await made.run(name, examples[name])).toMatchObject({success: false, code: 'INTERRUPTED'});
    const late = filled({signal: AbortSignal.abort(new DOMException('', 'TimeoutError'))});
    expect(await late.run(name, examples[name])).toMatchObject({success: false, code: 'TIMEOUT'});
    expect(readFileSync(join(late.workspace, 'a.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
  });
});

describe('secrets', () => {
  const secret = 'correct-horse-battery-staple-4711';
  const redact = makeRedactor([{name: 'MY_KEY', value: secret}]);

  it('are taken out of results, and the result says so', async () => {
    const {run, workspace} = filled({redact});
    writeFileSync(join(workspace, 'conf.env'), `KEY=${secret}\nPORT=80\n`);
    const result = await run('read_file', {path: 'conf.env'});
    expect(result).toMatchObject({success: true, redacted: expect.stringContaining('secrets were taken out')});
    expect(JSON.stringify(result)).not.toContain(secret);
  });

  it.each([
    ['write_file', {path: 'conf.env', content: 'KEY=[redacted: MY_KEY]\nPORT=81\n'}],
    ['create_file', {path: 'new.env', content: 'KEY=[redacted: MY_KEY]\n'}],
    ['edit_file', {path: 'conf.env', old: 'KEY=[redacted: MY_KEY]\nPORT=80', new: 'x'}],
  ])('are not replaced in files by the words that stand for them: %s', async (name, args) => {
    const {run, workspace} = filled({redact});
    const path = join(workspace, 'conf.env');
    writeFileSync(path, `KEY=${secret}\nPORT=80\n`);
    expect(await run(name, args)).toMatchObject({success: false, code: 'INVALID_ARGUMENTS'});
    expect(readFileSync(path, 'utf8')).toBe(`KEY=${secret}\nPORT=80\n`);
  });
});

describe('which calls may run', () => {
  it('offers capabilities by name or alias, once, and only what can run', () => {
    const names = offers(['Read', 'read', 'read_file', 'bash', 'no_such', 'mcp__a__b', 'list_agents']).map(o => o.name);
    expect(names).toEqual(['read_file', 'execute_command', 'list_agents']);
    expect(offers(Object.keys(tools)).map(o => o.name)).toEqual(Object.keys(tools));
  });

  it('refuses in order: not its tool, bad arguments, the policy', async () => {
    const {context} = toolHome();
    const refusal = async (name: string, args: string, capabilities: string[], rules = {}) => {
      const ready = await prepareCall({name, arguments: args}, capabilities, {...emptyPolicy, tools: rules}, context);
      return 'refused' in ready ? ready.refused : undefined;
    };
    expect(await refusal('raed_file', '{}', ['read'])).toMatchObject({
      code: 'NOT_ALLOWED',
      error: 'there is no tool "raed_file" (did you mean read_file?); its tools are read_file',
    });
    expect(await refusal('write_file', '{', ['read'])).toMatchObject({code: 'NOT_ALLOWED'});
    expect(await refusal('write_file', '{', ['write'], {write_file: 'deny'})).toMatchObject({
      code: 'INVALID_ARGUMENTS',
    });
    const args = '{"path": "a", "content": "b"}';
    expect(await refusal('write_file', args, ['write'], {write_file: 'deny'})).toMatchObject({code: 'DENIED'});
    expect(await refusal('write_file', args, ['write'], {'*': 'deny', write_file: 'allow'})).toBeUndefined();
    expect(await refusal('Write', args, ['write_file'])).toBeUndefined();
    expect(await refusal('bash', '{"command": "ls"}', ['bash'])).toBeUndefined();
    expect(await refusal('bash', '{"command": "ls"}', ['bash'], {bash: 'deny'})).toMatchObject({code: 'DENIED'});
    expect(await refusal('toString', '{}', ['toString', 'read'])).toMatchObject({code: 'NOT_ALLOWED'});
  });

  it('says what is wrong with arguments so that they can be mended', async () => {
    const {run} = toolHome();
    expect(await run('read_file', {pth: 'x', offset: 'a', limit: 0})).toMatchObject({
      error:
        '"path" is missing; "offset" must be a number, got the string "a"; "limit" must be at least 1, got the number 0; ' +
        'unknown argument "pth" (did you mean "path"?). read_file takes {path: string, offset?: integer, limit?: integer}',
    });
    expect(await run('grep', {pattern: ''})).toMatchObject({code: 'INVALID_ARGUMENTS'});
    expect(await run('grep', {pattern: '('})).toMatchObject({code: 'INVALID_ARGUMENTS'});
  });

  it('knows how other agents call arguments', async () => {
    const {run} = toolHome();
    for (const [tool, given, meant] of [
      ['read_file', 'file_path', 'path'],
      ['edit_file', 'old_string', 'old'],
      ['edit_file', 'new_string', 'new'],
      ['execute_command', 'cmd', 'command'],
      ['grep', 'pattren', 'pattern'],
    ] as const)
      expect(await run(tool, {[given]: 'x'})).toMatchObject({
        code: 'INVALID_ARGUMENTS',
        error: expect.stringContaining(`unknown argument "${given}" (did you mean "${meant}"?)`),
      });
    const both = (await run('read_file', {path: 'a', file_path: 'b'})) as unknown as {error: string};
    expect(both.error).not.toContain('did you mean');
    const odd = (await run('read_file', {path: 'a', constructor: 'b'})) as unknown as {error: string};
    expect(odd.error).not.toContain('did you mean');
  });

  it('takes empty arguments for none, and null for what is left out', async () => {
    const {run} = toolHome();
    expect(await run('list_agents', '')).toEqual({success: true, agents: []});
    expect(await run('list_sessions', {agent: null, status: null})).toEqual({success: true, sessions: []});
  });
});

describe('lists', () => {
  it('turn an unexpected error into a result that names no place of the machine', async () => {
    const broken = (): never => {
      throw new Error("cannot read '/home/somebody/secret/file.txt'");
    };
    const {run} = toolHome({agents: broken, sessions: broken});
    for (const name of ['list_agents', 'list_sessions'])
      expect(await run(name, {})).toEqual({success: false, code: 'FAILED', error: "cannot read '…/file.txt'"});
  });

  const sessions = [
    {id: 'a-1', agent: 'a', status: 'sleeping', updated: '2026-01-01T00:00:00.000Z'},
    {id: 'b-1', agent: 'b', status: 'active', updated: '2026-01-03T00:00:00.000Z'},
    {id: 'a-2', agent: 'a', status: 'active', updated: undefined},
  ];

  it('sessions, the latest first, of an agent or with a status', async () => {
    const {run} = toolHome({sessions: () => sessions});
    const ids = async (args: object) =>
      ((await run('list_sessions', args)) as unknown as {sessions: {id: string}[]}).sessions.map(({id}) => id);
    expect(await ids({})).toEqual(['b-1', 'a-1', 'a-2']);
    expect(await ids({agent: '@a'})).toEqual(['a-1', 'a-2']);
    expect(await ids({agent: 'a', status: 'active'})).toEqual(['a-2']);
    expect(sessions[0]?.id).toBe('a-1');
    expect(await run('list_sessions', {status: 'weird'})).toMatchObject({success: false, code: 'INVALID_ARGUMENTS'});
    expect(await run('list_sessions', {agent: 'nobody'})).toMatchObject({
      code: 'INVALID_ARGUMENTS',
      error: 'agent: there is neither an agent "nobody" nor a session of one; see list_agents',
    });
  });

  it('no more than a model can use', async () => {
    const many = Array.from({length: 1000}, (_, i) => ({
      id: `s${i}`,
      agent: 'a',
      status: 'active',
      updated: undefined,
    }));
    const agents = many.map(({id}) => ({id, type: undefined, description: 'd'.repeat(1000)}));
    const {run} = toolHome({sessions: () => many, agents: () => agents});
    expect(await run('list_sessions', {})).toMatchObject({left_out: 800});
    const listed = (await run('list_agents', {})) as unknown as {agents: {id: string}[]; others: string[]};
    // Each is named, since each can be written to.
    expect([...listed.agents.map(({id}) => id), ...listed.others]).toEqual(many.map(({id}) => id));
    expect(listed.agents.length).toBeGreaterThan(50);
    expect(JSON.stringify(listed).length).toBeLessThan(34 * 1024);
    const most = Array.from({length: 5000}, (_, i) => ({id: `s${i}`, type: undefined, description: undefined}));
    expect(await toolHome({agents: () => most}).run('list_agents', {})).toMatchObject({left_out: expect.any(Number)});
  });
});

describe('read_file', () => {
  it('reads ranges of lines', async () => {
    const {run, workspace, home} = toolHome();
    writeFileSync(join(workspace, 'a.txt'), 'one\r\ntwo\n\nfour');
    writeFileSync(join(workspace, 'empty'), '');
    writeFileSync(join(home, 'memory', 'prefs.md'), 'tabs\n');
    writeFileSync(join(home, 'tasks', 'x.task.md'), '- [ ] x\n');
    const at = (offset?: number, limit?: number) => run('read_file', {path: './a.txt', offset, limit});
    expect(await at()).toEqual({
      success: true,
      path: 'a.txt',
      content: 'one\r\ntwo\n\nfour',
      first_line: 1,
      last_line: 4,
      total_lines: 4,
    });
    expect(await at(2, 2)).toMatchObject({content: 'two\n\n', first_line: 2, last_line: 3});
    expect(await at(4, 100)).toMatchObject({content: 'four', last_line: 4});
    expect(await at(5)).toMatchObject({code: 'FAILED', error: 'a.txt has 4 lines; offset 5 is beyond them'});
    expect(await run('read_file', {path: 'empty'})).toMatchObject({content: '', total_lines: 0});
    expect(await run('read_file', {path: 'memory/prefs.md'})).toMatchObject({content: 'tabs\n'});
    expect(await run('read_file', {path: 'tasks/x.task.md'})).toMatchObject({content: '- [ ] x\n'});
    expect(await run('read_file', {path: 'a.txy'})).toMatchObject({error: 'a.txy does not exist; did you mean a.txt?'});
    expect(await run('read_file', {path: '.'})).toMatchObject({error: '. is a directory'});
  });

  it('cuts long files in the middle, and every line can be had', async () => {
    const {run, workspace} = toolHome();
    const lines = Array.from({length: 5000}, (_, i) => `${i + 1}: ${'ä'.repeat(i % 60)}\n`);
    writeFileSync(join(workspace, 'long.txt'), lines.join(''));
    const seen = new Set<number>();
    const open = [{offset: 1, limit: 5000}];
    for (let range = open.pop(); range; range = open.pop()) {
      const result = (await run('read_file', {path: 'long.txt', ...range})) as unknown as {
        content: string;
        left_out?: {offset: number; limit: number};
      };
      expect(Buffer.byteLength(result.content)).toBeLessThan(33 * 1024);
      for (const line of result.content.split('\n')) {
        const number = Number(/^(\d+): /.exec(line)?.[1] ?? 0);
        if (number > 0) {
          expect(`${line}\n`).toBe(lines[number - 1]);
          expect(seen.has(number)).toBe(false);
          seen.add(number);
        }
      }
      if (result.left_out) open.push({offset: result.left_out.offset, limit: result.left_out.limit});
    }
    expect(seen.size).toBe(5000);
  });

  it('shows the ends of one very long line, in whole characters', async () => {
    const {run, workspace} = toolHome();
    writeFileSync(join(workspace, 'min.js'), `a${'é€😀'.repeat(20_000)}z`);
    const result = (await run('read_file', {path: 'min.js'})) as unknown as {content: string};
    expect(result.content).not.toContain('\ufffd');
    expect(result.content).toMatch(/^aé.*bytes left out.*z$/s);
  });

  it('knows what is not text, or too large', async () => {
    const {run, workspace} = toolHome();
    writeFileSync(join(workspace, 'a.png'), Buffer.from([0x89, 0x50, 0, 1]));
    writeFileSync(join(workspace, 'latin1.txt'), Buffer.from([0x61, 0xe9, 0x0a]));
    writeFileSync(join(workspace, 'large.bin'), '');
    truncateSync(join(workspace, 'large.bin'), 32 * 1024 * 1024 + 1);
    expect(await run('read_file', {path: 'a.png'})).toMatchObject({
      code: 'FAILED',
      error: 'a.png is binary (4 bytes), not text',
    });
    expect(await run('read_file', {path: 'latin1.txt'})).toMatchObject({
      content: 'aé\n',
      note: expect.any(String),
    });
    expect(await run('read_file', {path: 'large.bin'})).toMatchObject({code: 'FAILED'});
  });
});

describe('writing', () => {
  it('writes whole files, makes folders, keeps the mode, leaves nothing beside', async () => {
    const {run, workspace} = toolHome();
    expect(await run('write_file', {path: 'a/b/c.sh', content: 'x'})).toMatchObject({created: true, bytes: 1});
    chmodSync(join(workspace, 'a/b/c.sh'), 0o751);
    expect(await run('write_file', {path: 'a/b/c.sh', content: 'äy'})).toMatchObject({created: false, bytes: 3});
    expect(statSync(join(workspace, 'a/b/c.sh')).mode & 0o777).toBe(0o751);
    expect(readFileSync(join(workspace, 'a/b/c.sh'), 'utf8')).toBe('äy');
    expect(readdirSync(join(workspace, 'a/b'))).toEqual(['c.sh']);
    expect(await run('write_file', {path: 'a', content: ''})).toMatchObject({
      code: 'FAILED',
      error: 'a is a directory',
    });
    expect(await run('write_file', {path: 'a/b/c.sh/d', content: ''})).toMatchObject({code: 'FAILED'});
    expect(await run('write_file', {path: './memory/own.md', content: 'mine'})).toMatchObject({
      path: './memory/own.md',
    });
    expect(await run('read_file', {path: './memory/own.md'})).toMatchObject({content: 'mine'});
  });

  it('makes the workspace on first need', async () => {
    const {run, home} = toolHome({agent: 'fresh@pr-1'});
    expect(await run('list_directory', {})).toMatchObject({entries: []});
    expect(await run('create_file', {path: 'a', content: ''})).toMatchObject({success: true});
    expect(readdirSync(join(home, 'workspaces'))).toEqual(['coder', 'fresh@pr-1']);
  });

  it('create_file fails if it exists, and of many at once one wins', async () => {
    const {run, workspace} = toolHome();
    const results = await Promise.all(
      Array.from({length: 20}, (_, i) => run('create_file', {path: 'one', content: String(i)})),
    );
    expect(results.filter(({success}) => success)).toHaveLength(1);
    const winner = results.findIndex(({success}) => success);
    expect(readFileSync(join(workspace, 'one'), 'utf8')).toBe(String(winner));
    expect(readdirSync(workspace)).toEqual(['one']);
  });

  it('create_directory makes parents, and is content if it is there', async () => {
    const {run, workspace} = toolHome();
    expect(await run('create_directory', {path: 'a/b/c'})).toEqual({success: true, path: 'a/b/c', created: true});
    expect(await run('create_directory', {path: 'a/b/'})).toEqual({success: true, path: 'a/b', created: false});
    expect(statSync(join(workspace, 'a/b/c')).isDirectory()).toBe(true);
    writeFileSync(join(workspace, 'file'), '');
    expect(await run('create_directory', {path: 'file/x'})).toMatchObject({
      code: 'FAILED',
      error: 'file is a file, not a directory',
    });
  });
});

describe('edit_file', () => {
  const edited = async (before: string, args: object) => {
    const {run, workspace} = toolHome();
    writeFileSync(join(workspace, 'f'), before);
    const result = await run('edit_file', {path: 'f', ...args});
    return {result, text: readFileSync(join(workspace, 'f'), 'utf8')};
  };

  it('replaces one exact piece, taken literally', async () => {
    const {result, text} = await edited('\ufeffa.b\na+b\n', {old: 'a+b', new: "$&$'\\n"});
    expect(result).toMatchObject({success: true, replaced: 1, lines: [2]});
    expect(text).toBe("\ufeffa.b\n$&$'\\n\n");
  });

  it('replaces several only if told to', async () => {
    const twice = await edited('x\ny\nx x\n', {old: 'x', new: 'z'});
    expect(twice.result).toMatchObject({
      code: 'FAILED',
      error: expect.stringContaining('3 times in f, at lines 1, 3, 3'),
    });
    expect(twice.text).toBe('x\ny\nx x\n');
    expect((await edited('x\ny\nx x\n', {old: 'x', new: '', all: true})).text).toBe('\ny\n \n');
  });

  it('says why it found nothing', async () => {
    const text = 'if (a) {\n\treturn 1;\n}\n';
    const miss = async (old: string) => ((await edited(text, {old, new: 'x'})).result as {error: string}).error;
    expect(await miss('if (a) {\n  return 1;')).toContain('at line 1 it stands with other white space');
    expect(await miss('if (a) {\n  return 2;')).toContain('its first line is like line 1');
    expect(await miss('nothing')).toBe('old does not occur in f; it must be exactly as in the file');
    expect((await edited(text, {old: 'a', new: 'a'})).result).toMatchObject({code: 'FAILED'});
  });

  it('keeps line ends and bytes it cannot read', async () => {
    expect((await edited('a\r\nb\r\nc\r\n', {old: 'a\nb', new: 'x\ny\nz'})).text).toBe('x\r\ny\r\nz\r\nc\r\n');
    const {run, workspace} = toolHome();
    writeFileSync(join(workspace, 'latin1'), Buffer.from([0x61, 0xe9]));
    expect(await run('edit_file', {path: 'latin1', old: 'a', new: 'b'})).toMatchObject({code: 'FAILED'});
    expect([...readFileSync(join(workspace, 'latin1'))]).toEqual([0x61, 0xe9]);
  });

  it('of two edits at once, none is lost', async () => {
    const {run, workspace} = toolHome();
    writeFileSync(join(workspace, 'f'), 'a b');
    const both = await Promise.all([
      run('edit_file', {path: 'f', old: 'a', new: 'A'}),
      run('edit_file', {path: 'f', old: 'b', new: 'B'}),
    ]);
    const text = readFileSync(join(workspace, 'f'), 'utf8');
    expect(text.includes('A')).toBe(both[0].success);
    expect(text.includes('B')).toBe(both[1].success);
  });
});

describe('paths', () => {
  it('of files do not end with a slash where one is written', async () => {
    const {run, workspace} = toolHome();
    for (const [tool, args] of [
      ['write_file', {content: 'x'}],
      ['create_file', {content: 'x'}],
      ['edit_file', {old: 'x', new: 'y'}],
    ] as const)
      for (const path of ['newdir/', 'newdir/.'])
        expect(await run(tool, {path, ...args})).toMatchObject({
          code: 'INVALID_ARGUMENTS',
          error: expect.stringContaining('create_directory'),
        });
    expect(readdirSync(workspace)).toEqual([]);
    expect(await run('create_directory', {path: 'newdir/'})).toMatchObject({success: true, path: 'newdir'});
    expect(await run('list_directory', {path: 'newdir/'})).toMatchObject({success: true});
  });

  it('may begin with that of the workspace, as programs print them', async () => {
    const {run, workspace, home} = toolHome();
    writeFileSync(join(home, 'memory/secret.md'), 'of the home');
    const at = (path: string) => `${workspace}/${path}`;
    expect(await run('write_file', {path: at('memory/a.txt'), content: 'one'})).toMatchObject({path: './memory/a.txt'});
    expect(readFileSync(join(workspace, 'memory/a.txt'), 'utf8')).toBe('one');
    expect(await run('edit_file', {path: at('memory/a.txt'), old: 'one', new: 'two'})).toMatchObject({success: true});
    expect(await run('read_file', {path: at('memory/a.txt')})).toMatchObject({content: 'two'});
    expect(await run('create_directory', {path: at('sub')})).toMatchObject({path: 'sub'});
    expect(await run('create_file', {path: at('sub/b.txt'), content: 'two'})).toMatchObject({path: 'sub/b.txt'});
    expect(await run('grep', {pattern: 'two', path: workspace})).toMatchObject({matches: 2});
    expect(await run('list_directory', {path: workspace})).toMatchObject({path: '.'});
    expect(await run('glob', {pattern: at('sub/*')})).toMatchObject({files: ['sub/b.txt']});
    expect(await run('glob', {pattern: '*', path: at('sub')})).toMatchObject({files: ['sub/b.txt']});
    expect(await run('read_file', {path: at('memory/secret.md')})).toMatchObject({code: 'FAILED'});
    for (const path of ['../other/x', '.git/config', './../x', 'sub/../../x'])
      for (const tool of ['read_file', 'list_directory', 'grep'])
        expect(await run(tool, {path: at(path), ...(tool === 'grep' && {pattern: 'x'})})).toMatchObject({
          code: 'DENIED',
        });
    for (const path of [`${workspace}x/a`, `${workspace}/../coder/sub/b.txt`, home, `/${workspace}`, '/etc/passwd'])
      expect(await run('read_file', {path})).toMatchObject({code: 'DENIED'});
    expect(await run('glob', {pattern: at('../*')})).toMatchObject({code: 'DENIED'});
  });
});

describe('list_directory', () => {
  it('lists by name, with sizes, and everything below if asked', async () => {
    const {run, workspace} = toolHome();
    mkdirSync(join(workspace, 'src/node_modules/x'), {recursive: true});
    mkdirSync(join(workspace, '.git'));
    writeFileSync(join(workspace, 'src/a.ts'), 'abc');
    writeFileSync(join(workspace, 'z'), '');
    expect(await run('list_directory', {})).toEqual({
      success: true,
      path: '.',
      entries: [{name: 'src/'}, {name: 'z', size: 0}],
    });
    expect(await run('list_directory', {recursive: true})).toMatchObject({
      entries: [{name: 'src/'}, {name: 'src/a.ts', size: 3}, {name: 'src/node_modules/'}, {name: 'z', size: 0}],
    });
    expect(await run('list_directory', {path: 'src'})).toMatchObject({
      entries: [{name: 'a.ts'}, {name: 'node_modules/'}],
    });
    expect(await run('list_directory', {path: 'z'})).toMatchObject({
      code: 'FAILED',
      error: 'z is a file, not a directory',
    });
    expect(await run('list_directory', {path: 'no'})).toMatchObject({code: 'FAILED'});
  });

  it('lists a thousand at most', async () => {
    const {run, workspace} = toolHome();
    for (let i = 0; i < 1010; i++) writeFileSync(join(workspace, `f${i}`), '');
    for (const recursive of [false, true]) {
      const result = (await run('list_directory', {recursive})) as unknown as {entries: unknown[]; incomplete: string};
      expect(result.entries).toHaveLength(1000);
      expect(result.incomplete).toBeDefined();
    }
  });
});

describe('remember', () => {
  it.each([' \n\t', '\u0085', '\u2028', 'poison\0', 'a\u001b[2Kb', 'a\bb', 'a\u009bb'])(
    'writes no %j, and nobody is asked about it',
    async text => {
      const {context, home, run} = toolHome();
      const wrong = {success: false, code: 'INVALID_ARGUMENTS', error: expect.stringMatching(/^text: expected/)};
      expect(await run('remember', {file: 'notes', text})).toMatchObject(wrong);
      await expect(asking(context, 'remember', {file: 'notes', text})).rejects.toThrow(/^text: expected/);
      expect(readdirSync(join(home, 'memory'))).toEqual([]);
    },
  );

  it('writes what else a text may have', async () => {
    const {run} = toolHome();
    const text = 'Tabs\tand lines\r\n, Grüße, 你好, 👩‍💻';
    expect(await run('remember', {file: 'notes', text})).toMatchObject({success: true, path: 'memory/notes.md'});
  });
});

describe('ask_human', () => {
  it('asks a question, and options that are each one', async () => {
    const {context} = toolHome();
    await expect(asking(context, 'ask_human', {question: ' \n'})).rejects.toThrow(/^question: expected a question/);
    const {ask} = await asking(context, 'ask_human', {question: 'Which?', options: ['one\n- two', ' ', 'three']});
    expect(textOf(ask)).toBe('Question:\nWhich?\nOptions:\n1. one - two\n2. three');
  });
});
