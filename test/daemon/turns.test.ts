import {existsSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {parseSession} from '../../src/formats/session/session.ts';
import type {Message} from '../../src/formats/session/session-schema.ts';
import {agentdir, environment, git, newHome, put, until} from '../cli/run.ts';
import type {ChatRequest, Reaction} from '../model/fake-openai.mjs';
import {openHouse} from './house.ts';
import {read, serve, settled} from './serve.ts';
import {expectSound} from './sound.ts';
import {
  append,
  atRest,
  begin,
  gate,
  leastForm,
  lineOf,
  POLICY,
  pathOf,
  sessionOf,
  setStage,
  TALKER,
  transcript,
  whenIt,
} from './talk.ts';

const house = openHouse(undefined, [pathOf('broken')]);

/** Wait until the model was asked so often on this topic. */
const whenAsked = (topic: string, times: number): Promise<ChatRequest[]> =>
  until(
    () => house.stage.asked(topic),
    requests => requests.length >= times,
  );

/** Each request of a topic waits until the test answers it. */
function heldBack(topic: string): (nth: number, reaction: Reaction) => void {
  const gates = Array.from({length: 8}, () => gate<Reaction>());
  house.stage.parts.set(topic, (_, nth) => gates[nth]?.opened ?? {status: 400});
  return (nth, reaction) => gates[nth]?.open(reaction);
}

const edit = (id: string, how: (text: string) => string) => {
  const path = join(house.home, pathOf(id));
  writeFileSync(path, how(readFileSync(path, 'utf8')));
};

const setStatus = (id: string, status: string) => edit(id, text => text.replace(/^status: .*/m, `status: ${status}`));

const sent = ({messages}: ChatRequest) => messages.slice(1).map(({role, content}) => `${role}: ${content}`);

/** Commits of a session, oldest first: author, subject, trailers but for the usage that may share a commit. */
async function commits(home: string, id: string): Promise<{by: string; subject: string; trailers: string[]}[]> {
  const log = await git(
    home,
    'log',
    '--reverse',
    '--format=%an <%ae>%x1f%s%x1f%(trailers:unfold,separator=%x1f)%x1e',
    '--',
    pathOf(id),
  );
  return log
    .split('\x1e')
    .filter(line => line.trim() !== '')
    .map(line => {
      const [by = '', subject = '', ...trailers] = line.trim().split('\x1f');
      return {by, subject, trailers: trailers.filter(trailer => !trailer.startsWith('Step: state(spend)'))};
    });
}

const results = (messages: readonly Message[]): Record<string, unknown>[] =>
  messages
    .filter(({role}) => role === 'tool_result')
    .map(({content}) => JSON.parse(content ?? '') as Record<string, unknown>);

describe('a session', () => {
  it('in its least form is answered, filled in, and told of in git', async () => {
    const {home} = house;
    begin(home, 'least', 'least form');
    await settled(home, pathOf('least'), text => /^status: sleeping/m.test(text));
    const {header, messages} = sessionOf(home, 'least');
    expect(header).toMatchObject({
      session_id: 'least',
      agent_id: 'talker',
      agent_type: 'talker',
      model: 'default',
      system_prompt: 'You are brief.',
      status: 'sleeping',
    });
    expect(messages).toMatchObject([
      {role: 'user', from: 'human', content: 'least form', timestamp: expect.any(String)},
      {
        role: 'assistant',
        content: 'answer 0',
        model: 'fake-1',
        usage: {input_tokens: 10, output_tokens: 5},
        timestamp: expect.any(String),
      },
    ]);
    const [request] = house.stage.asked('least');
    expect(request?.messages).toEqual([
      {role: 'system', content: expect.stringMatching(/^You are brief\.\n\n# What you can reach\n/)},
      {role: 'user', content: 'least form'},
    ]);
    expect(request?.tools?.map(tool => tool.function.name)).toEqual([
      'list_agents',
      'read_file',
      'create_file',
      'write_file',
      'edit_file',
    ]);
    expect(await commits(home, 'least')).toEqual([
      {
        by: 'Ada <ada@example.org>',
        subject: 'session(least): created by hand',
        trailers: ['Agent: talker', 'Session: least', 'Cause: edit'],
      },
      {
        by: 'agentdir <agentdir@home>',
        subject: expect.stringMatching(/^session\(least\): filled in /),
        trailers: ['Agent: talker', 'Session: least', 'Cause: fill-in'],
      },
      {
        by: 'talker <talker@home>',
        subject: 'session(least): assistant turn',
        trailers: ['Agent: talker', 'Session: least', 'Model: fake-1', 'Tokens: 10 in, 5 out', 'Cause: turn'],
      },
    ]);
  });

  it('runs several calls of one answer in their order, what changes something marked before it runs', async () => {
    const {home, stage} = house;
    stage.parts.set('several', (_, nth) =>
      nth > 0
        ? {text: 'made'}
        : {
            calls: [
              {id: 'look', name: 'list_agents'},
              {id: 'make', name: 'create_file', arguments: {path: 'several.txt', content: 'one\n'}},
              {id: 'read', name: 'read_file', arguments: {path: 'several.txt'}},
              {id: 'twice', name: 'create_file', arguments: {path: 'several.txt', content: 'two\n'}},
            ],
          },
    );
    begin(home, 'several', 'several calls');
    await settled(home, pathOf('several'), text => /^status: sleeping/m.test(text));
    const session = sessionOf(home, 'several');
    expect(transcript(session)).toEqual([
      'user: several calls',
      'assistant: [list_agents, create_file, read_file, create_file]',
      'result look: ok',
      'result make: ok',
      'result read: ok',
      'result twice: FAILED',
      'assistant: made',
    ]);
    expect(results(session.messages)[2]).toMatchObject({success: true, content: expect.stringContaining('one')});
    expect(readFileSync(join(home, 'workspaces/talker/several.txt'), 'utf8')).toBe('one\n');
    const marks = session.messages[1]?.tool_calls?.map(({id, started, run}) => [id, typeof started, typeof run]);
    expect(marks).toEqual([
      ['look', 'undefined', 'undefined'],
      ['make', 'string', 'string'],
      ['read', 'undefined', 'undefined'],
      ['twice', 'string', 'string'],
    ]);
    const told = await commits(home, 'several');
    const calls = told.filter(({trailers}) => trailers.includes('Call: make'));
    expect(calls.map(({by, subject}) => [by, subject])).toEqual([
      [
        'talker <talker@home>',
        expect.stringContaining('assistant turn, calls list_agents, create_file, read_file, create_file'),
      ],
      ['talker <talker@home>', expect.stringMatching(/started create_file$/)],
      ['talker <talker@home>', expect.stringMatching(/: results? of .*create_file/)],
    ]);
    // In the version that says "started" there is no result yet.
    const shas = (await git(home, 'log', '--format=%H', '--', pathOf('several'))).trim().split('\n');
    const texts = await Promise.all(shas.map(sha => git(home, 'show', `${sha}:${pathOf('several')}`)));
    const atStart = texts.map(text => parseSession(text).messages).filter(all => all[1]?.tool_calls?.[1]?.started);
    expect(atStart.at(-1)?.some(({tool_call_id}) => tool_call_id === 'make')).toBe(false);
  });

  it('has a result for each call that cannot run, and goes on', async () => {
    const {home, stage} = house;
    stage.parts.set('wrong', (_, nth) =>
      nth > 0
        ? {text: 'I see'}
        : {
            calls: [
              {id: 'a', name: 'frobnicate', arguments: {}},
              {id: 'b', name: 'read_file', arguments: '{"path": "x'},
              {id: 'c', name: 'read_file', arguments: {path: 7}},
              {id: 'd', name: 'grep', arguments: {pattern: 'x'}},
              {id: 'e', name: 'edit_file', arguments: {path: 'x', old: 'a', new: 'b'}},
              {id: 'f', name: 'edit_file', arguments: {path: 'x'}},
              {id: 'g', name: 'create_file', arguments: '[]'},
              {id: 'h', name: 'no such name!', arguments: 'null'},
            ],
          },
    );
    begin(home, 'wrong', 'wrong calls');
    const session = await whenIt(home, 'wrong', atRest);
    expect(transcript(session).slice(2)).toEqual([
      'result a: NOT_ALLOWED',
      'result b: INVALID_ARGUMENTS',
      'result c: INVALID_ARGUMENTS',
      'result d: NOT_ALLOWED',
      'result e: DENIED',
      'result f: INVALID_ARGUMENTS',
      'result g: INVALID_ARGUMENTS',
      'result h: NOT_ALLOWED',
      'assistant: I see',
    ]);
    expect(session.messages[1]?.tool_calls?.some(({started}) => started !== undefined)).toBe(false);
    expect(existsSync(join(home, 'workspaces/talker/x'))).toBe(false);
    // What it is told of its own calls is valid, whatever it wrote.
    expect(stage.asked('wrong')).toHaveLength(2);
    expect(stage.server.violations).toEqual([]);
  });

  it('keeps what comes while it is busy in order, below the reply and the results of its calls', async () => {
    const {home} = house;
    const answer = heldBack('busy');
    begin(home, 'busy', 'busy: one');
    await whenAsked('busy', 1);
    append(home, 'busy', 'two');
    append(home, 'busy', 'three');
    await settled(home, pathOf('busy'), text => (text.match(/timestamp/g)?.length ?? 0) === 3);
    answer(0, {calls: [{id: 'busy1', name: 'list_agents'}]});
    await whenAsked('busy', 2);
    append(home, 'busy', 'four');
    answer(1, {text: 'to one, two, three'});
    await whenAsked('busy', 3);
    answer(2, {text: 'to four'});
    const session = await whenIt(home, 'busy', atRest);
    expect(transcript(session)).toEqual([
      'user: busy: one',
      'assistant: [list_agents]',
      'result busy1: ok',
      'user: two',
      'user: three',
      'assistant: to one, two, three',
      'user: four',
      'assistant: to four',
    ]);
    const [, second, third] = house.stage.asked('busy');
    expect(second && sent(second).slice(2)).toEqual([
      expect.stringMatching(/^tool: \{"success":true/),
      'user: two',
      'user: three',
    ]);
    expect(third && sent(third).slice(-2)).toEqual(['assistant: to one, two, three', 'user: four']);
  });

  it('rewritten during a call: the stale reply is dropped and the call repeated on the new history', async () => {
    const {home, daemon} = house;
    const answer = heldBack('rewrite');
    begin(home, 'rewrite', 'rewrite: Is Redis up?');
    await whenAsked('rewrite', 1);
    edit('rewrite', text => text.replace('Is Redis up?', 'Is Postgres up?'));
    await whenAsked('rewrite', 2);
    answer(0, {text: 'Redis is up'});
    answer(1, {text: 'Postgres is up'});
    const session = await whenIt(home, 'rewrite', atRest);
    expect(transcript(session)).toEqual(['user: rewrite: Is Postgres up?', 'assistant: Postgres is up']);
    expect(house.stage.asked('rewrite').map(sent)).toEqual([
      ['user: rewrite: Is Redis up?'],
      ['user: rewrite: Is Postgres up?'],
    ]);
    expect(daemon.events.filter(({event, session}) => event === 'dropped' && session === 'rewrite')).toHaveLength(1);
  });

  it.each(['paused', 'completed'])('set to %s during a call gets no reply; active again, it goes on', async status => {
    const {home, daemon} = house;
    const answer = heldBack(status);
    begin(home, status, `${status}: one`);
    await whenAsked(status, 1);
    await until(
      () => sessionOf(home, status).header?.status,
      now => now === 'active',
    );
    setStatus(status, status);
    await until(
      () => daemon.events,
      events => events.some(({event, session}) => event === 'dropped' && session === status),
    );
    answer(0, {text: 'too late'});
    append(home, status, 'two');
    await settled(home, pathOf(status), text => (text.match(/timestamp/g)?.length ?? 0) === 2);
    expect(house.stage.asked(status)).toHaveLength(1);
    expect(transcript(sessionOf(home, status))).toEqual([`user: ${status}: one`, 'user: two']);
    setStatus(status, 'active');
    await whenAsked(status, 2);
    answer(1, {text: 'now'});
    const session = await whenIt(home, status, atRest);
    expect(transcript(session)).toEqual([`user: ${status}: one`, 'user: two', 'assistant: now']);
  });

  it('paused while a call runs keeps its result, and asks nothing', async () => {
    const {home, stage} = house;
    const answer = heldBack('held');
    begin(home, 'held', 'held: one');
    await whenAsked('held', 1);
    await until(
      () => sessionOf(home, 'held').header?.status,
      now => now === 'active',
    );
    // As if the daemon had been stopped in the midst: the answer is there, its calls are not begun.
    setStatus('held', 'paused');
    append(home, 'held', 'x');
    edit('held', text =>
      text.replace(
        lineOf('x'),
        '  - role: assistant\n    tool_calls:\n      - {id: h1, function: {name: list_agents, arguments: "{}"}}\n',
      ),
    );
    await settled(home, pathOf('held'), text => text.includes('h1'));
    answer(0, {text: 'too late'});
    expect(stage.asked('held')).toHaveLength(1);
    expect(transcript(sessionOf(home, 'held'))).toEqual(['user: held: one', 'assistant: [list_agents]']);
    setStatus('held', 'active');
    await whenAsked('held', 2);
    answer(1, {text: 'done'});
    const session = await whenIt(home, 'held', atRest);
    expect(transcript(session).slice(1)).toEqual(['assistant: [list_agents]', 'result h1: ok', 'assistant: done']);
  });

  it('refused by the server is in error, says what to do, and is tried again when a person sets it active', async () => {
    const {home, stage} = house;
    stage.parts.set('refused', (_, nth) =>
      nth === 0 ? {status: 401, error: {message: 'Incorrect API key provided'}} : {text: 'welcome'},
    );
    begin(home, 'refused', 'refused once');
    const failed = await whenIt(home, 'refused', (_, {header}) => header?.status === 'error');
    expect(failed.header?.error).toMatch(/401.*Incorrect API key.*OPENAI_API_KEY.*status: active/);
    await settled(home, pathOf('refused'), text => /^status: error/m.test(text));
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => text.includes('refused'),
    );
    expect(stage.asked('refused')).toHaveLength(1);
    setStatus('refused', 'active');
    const session = await whenIt(home, 'refused', atRest);
    expect(transcript(session)).toEqual(['user: refused once', 'assistant: welcome']);
    expect(session.header?.error).toBeUndefined();
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => !text.includes('refused'),
    );
  });

  it('with errors in its file when the reply comes has the reply once it is mended', async () => {
    const {home, daemon} = house;
    const answer = heldBack('broken');
    begin(home, 'broken', 'broken: one');
    await whenAsked('broken', 1);
    await settled(home, pathOf('broken'), text => /^status: active/m.test(text));
    edit('broken', text => text.replace('status: active', 'status: actve'));
    await until(
      () => daemon.events,
      events => events.some(({event, problem}) => event === 'problem' && JSON.stringify(problem).includes('actve')),
    );
    answer(0, {text: 'here'});
    const before = read(home, pathOf('broken'));
    // Something else is answered meanwhile: the reply had its chance.
    begin(home, 'beside', 'beside');
    await whenIt(home, 'beside', atRest);
    expect(read(home, pathOf('broken'))).toBe(before);
    setStatus('broken', 'active');
    const session = await whenIt(home, 'broken', atRest);
    expect(transcript(session)).toEqual(['user: broken: one', 'assistant: here']);
    expect(house.stage.asked('broken')).toHaveLength(1);
  });

  it('deleted during a call: nothing comes back, and the call is given up', async () => {
    const {home} = house;
    const answer = heldBack('deleted');
    begin(home, 'deleted', 'deleted: one');
    await whenAsked('deleted', 1);
    await settled(home, pathOf('deleted'), text => /^status: active/m.test(text));
    rmSync(join(home, pathOf('deleted')));
    await until(
      () => commits(home, 'deleted'),
      all => all.at(-1)?.subject === 'session(deleted): removed by hand',
    );
    await until(
      () => read(home, '.agentdir/live/deleted.jsonl'),
      text => text.includes('"how":"dropped"'),
    );
    answer(0, {text: 'to nobody'});
    begin(home, 'after', 'after');
    await whenIt(home, 'after', atRest);
    expect(existsSync(join(home, pathOf('deleted')))).toBe(false);
  });

  it('that is cut off goes on by itself, but not for ever', async () => {
    const {home, stage} = house;
    stage.parts.set('cut', (_, nth) =>
      nth === 0 ? {text: 'the first half', finish: 'length'} : {text: ' and the second'},
    );
    stage.parts.set('endless', (_, nth) => ({text: `part ${nth}`, finish: 'length'}));
    begin(home, 'cut', 'cut once');
    begin(home, 'endless', 'endless talk');
    const cut = await whenIt(home, 'cut', atRest);
    expect(transcript(cut)).toEqual([
      'user: cut once',
      'assistant: the first half',
      expect.stringMatching(/^user: Your answer was cut off/),
      expect.stringMatching(/^assistant: +and the second$/),
    ]);
    expect(cut.messages[2]).toMatchObject({from: 'system'});
    const endless = await whenIt(home, 'endless', atRest);
    expect(transcript(endless).filter(line => line.startsWith('assistant'))).toEqual(
      [0, 1, 2, 3].map(n => `assistant: part ${n}`),
    );
    expect(endless.messages.at(-1)).toMatchObject({role: 'assistant', cut: true});
    append(home, 'endless', 'go on');
    await until(
      () => stage.asked('endless').length,
      count => count === 8,
    );
  });

  it('waits for its turn: so many requests at a time as agentdir.yaml says now', async () => {
    const {home, stage} = house;
    const settings = read(home, 'agentdir.yaml');
    put(home, {'agentdir.yaml': settings.replace(/^concurrency: .*/m, 'concurrency: 2')});
    await settled(home, 'agentdir.yaml', text => text.includes('concurrency: 2'));
    let now = 0;
    let most = 0;
    const ids = Array.from({length: 6}, (_, i) => `crowd${i}`);
    for (const id of ids)
      stage.parts.set(id, async () => {
        most = Math.max(most, ++now);
        // Long enough that all would be there together if they might.
        await new Promise(resolve => setTimeout(resolve, 60));
        now--;
        return {text: id};
      });
    for (const id of ids) begin(home, id, id);
    for (const id of ids)
      expect(transcript(await whenIt(home, id, atRest))).toEqual([`user: ${id}`, `assistant: ${id}`]);
    expect(most).toBe(2);
    put(home, {'agentdir.yaml': settings});
    await settled(home, 'agentdir.yaml', text => text === settings);
  });
});

describe('a daemon with sessions', () => {
  const files = {'templates/talker.agent.yaml': TALKER, 'allowlist.yaml': POLICY};

  it('that works once answers them all: exit 0, or 1 if one is in error', async () => {
    const {stage} = house;
    const home = await newHome({
      ...files,
      [pathOf('one')]: leastForm('one'),
      [pathOf('two')]: leastForm('two'),
      [pathOf('three')]: leastForm('three'),
    });
    stage.parts.set('two', (_, nth) => (nth > 0 ? {text: 'done'} : {calls: [{id: 'a', name: 'list_agents'}]}));
    const env = {...environment, ...stage.env};
    const first = await agentdir(home, ['start', '--once', '--json'], env);
    expect(first).toMatchObject({code: 0, stderr: ''});
    for (const id of ['one', 'two', 'three']) expect(sessionOf(home, id).header?.status).toBe('sleeping');
    expect(transcript(sessionOf(home, 'two'))).toEqual([
      'user: two',
      'assistant: [list_agents]',
      'result a: ok',
      'assistant: done',
    ]);
    expect(await git(home, 'status', '--porcelain')).toBe('');
    const asked = stage.server.count;
    expect((await agentdir(home, ['start', '--once'], env)).code).toBe(0);
    expect(stage.server.count).toBe(asked);
    stage.parts.set('bad', () => ({status: 400, error: {message: 'no such thing'}}));
    put(home, {[pathOf('bad')]: leastForm('bad')});
    append(home, 'one', 'more');
    expect((await agentdir(home, ['start', '--once'], env)).code).toBe(1);
    expect(sessionOf(home, 'bad').header).toMatchObject({
      status: 'error',
      error: expect.stringContaining('no such thing'),
    });
    expect(transcript(sessionOf(home, 'one'))).toHaveLength(4);
    expect(await git(home, 'status', '--porcelain')).toBe('');
  });

  it('that is stopped during a call stops at once, and the next one asks again', async () => {
    const stage = await setStage();
    const never = gate<Reaction>();
    stage.parts.set('long', (_, nth) => (nth === 0 ? never.opened : {text: 'at last'}));
    try {
      const home = await newHome({...files, [pathOf('long')]: leastForm('long talk')});
      const first = await serve(home, stage.env);
      await until(
        () => stage.asked('long').length,
        count => count === 1,
      );
      const began = performance.now();
      expect(await first.stop(), first.errors()).toBe(0);
      expect(performance.now() - began).toBeLessThan(30_000);
      expect(transcript(sessionOf(home, 'long'))).toEqual(['user: long talk']);
      expect(await git(home, 'status', '--porcelain')).toBe('');
      const second = await serve(home, stage.env);
      const session = await whenIt(home, 'long', atRest);
      expect(transcript(session)).toEqual(['user: long talk', 'assistant: at last']);
      expect(await second.stop(), second.errors()).toBe(0);
      await expectSound(home);
    } finally {
      never.open({text: ''});
      await stage.server.close();
    }
  });
});
