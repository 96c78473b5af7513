import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {checkpointPath} from '../../src/formats/common/key.ts';
import {newSession} from '../../src/formats/session/session.ts';
import type {Message} from '../../src/formats/session/session-schema.ts';
import {agentdir, put, until} from '../cli/run.ts';
import type {ChatRequest, Reaction} from '../model/fake-openai.mjs';
import {
  assistant,
  contextOf,
  goodNotes,
  isNotes,
  longTalk,
  makeSession,
  openCompactionHouse,
  TIME,
  textOf,
  tokensIn,
  user,
  WINDOW,
} from './compacting.ts';
import {read} from './serve.ts';
import {append, atRest, pathOf, sessionOf, whenIt} from './talk.ts';

const {house, requests, play} = openCompactionHouse();

describe('a conversation that outgrows its window', () => {
  it('goes on with a checkpoint: nothing that matters is forgotten, and no request exceeds the window', async () => {
    play((request): Reaction => {
      if (isNotes(request)) return goodNotes(request);
      const last = String(request.messages.at(-1)?.content);
      const asked = /^Recall (.*)$/.exec(last)?.[1];
      if (asked !== undefined) return {calls: [{name: 'recall', arguments: {query: asked}}]};
      return {text: 'fine'};
    });
    makeSession(house.home, 'long', longTalk());
    append(house.home, 'long', 'And now?');
    const done = await whenIt(
      house.home,
      'long',
      (lines, session) => lines.at(-1) === 'assistant: fine' && atRest(lines, session),
      60_000,
    );
    const {version, versions = []} = done.header?.context ?? {};
    expect(version).toBe(2);
    expect(versions.map(({reason}) => reason)).toEqual(['original', 'compacted']);
    const made = versions[1];
    expect(made).toMatchObject({file: checkpointPath('long', 2), because: 'size'});
    expect(made?.tokens_after).toBeLessThan((made?.tokens_before ?? 0) / 10);
    const notes = read(house.home, checkpointPath('long', 2));
    for (let n = 1; n <= 20; n++) expect(notes).toContain(`the code of room ${n} is`);
    for (let n = 1; n <= 10; n++) expect(notes).toContain(`I will water plant number ${n}`);
    const turns = requests.filter(request => !isNotes(request));
    for (const request of turns) {
      expect(textOf(request)).toContain('renew-cert');
      expect(textOf(request)).toContain('NEVER-TOUCH the database of the shop.');
      expect(textOf(request)).toContain('77 turns');
      expect(request.tools?.map(tool => tool.function.name)).toContain('recall');
    }
    expect(Math.max(...requests.map(tokensIn))).toBeLessThanOrEqual(WINDOW);
    expect(requests.length).toBeLessThanOrEqual(17);
    for (const n of [1, 13, 20]) {
      append(house.home, 'long', `Recall code of room ${n} ZX${n * 7919}`);
      const {messages} = await whenIt(
        house.home,
        'long',
        lines => lines.at(-1) === 'assistant: fine' && lines.at(-2)?.startsWith('result') === true,
      );
      expect(messages.at(-2)?.content).toContain(`the code of room ${n} is ZX${n * 7919}`);
      append(house.home, 'long', 'Thanks');
      await whenIt(house.home, 'long', lines => lines.at(-2) === 'user: Thanks');
    }
  });

  it('ends in one clear error where the model writes checkpoints that are too long, after two requests', async () => {
    const before = requests.length;
    play(request => (isNotes(request) ? {text: 'blah '.repeat(4_000)} : {text: 'never asked'}));
    makeSession(house.home, 'chatty', longTalk().slice(0, 300));
    append(house.home, 'chatty', 'And now?');
    const {header} = await whenIt(house.home, 'chatty', (_, session) => session.header?.status === 'error');
    expect(header?.error).toMatch(
      /could not be compacted: the checkpoint that the model wrote is too long.*compact_model/,
    );
    expect(header?.context).toBeUndefined();
    expect(requests.slice(before).filter(isNotes)).toHaveLength(2);
    expect(requests.slice(before).filter(request => !isNotes(request))).toEqual([]);
  });

  it('compacts once more when the server says that the request is too long, and then gives up', async () => {
    let limit = 3_000;
    const before = requests.length;
    play(request => {
      if (!isNotes(request) && tokensIn(request) > limit)
        return {
          status: 400,
          error: {message: "This model's maximum context length is smaller", code: 'context_length_exceeded'},
        };
      return isNotes(request) ? goodNotes(request) : {text: 'fine'};
    });
    const talk = longTalk()
      .filter(({tool_calls, role}) => !tool_calls && role !== 'tool_result')
      .slice(0, 300);
    makeSession(house.home, 'unknown', talk, {model: 'huge'});
    append(house.home, 'unknown', 'And now?');
    const done = await whenIt(
      house.home,
      'unknown',
      (lines, session) => lines.at(-1) === 'assistant: fine' && atRest(lines, session),
    );
    expect(done.header?.context).toMatchObject({version: 2, versions: [{version: 1}, {because: 'too long'}]});
    limit = 10;
    append(house.home, 'unknown', 'And then?');
    const {header} = await whenIt(house.home, 'unknown', (_, session) => session.header?.status === 'error');
    expect(header?.error).toMatch(/longer than the model.*can read|could not be compacted/);
    expect(requests.length - before).toBeLessThan(20);
  });

  it('makes long results into pointers before it writes a checkpoint, and shows exactly what it sends', async () => {
    let shown: unknown[] = [];
    play(async request => {
      if (isNotes(request)) return goodNotes(request);
      const {messages, tools} = await contextOf(house.home, 'results');
      shown = [messages, tools];
      return {text: 'fine'};
    });
    const talk = [0, 1, 2, 3].flatMap((n): Message[] => [
      user(`Read ${n}`),
      {
        timestamp: TIME,
        role: 'assistant',
        model: 'small',
        tool_calls: [{id: `r${n}`, type: 'function', function: {name: 'list_agents', arguments: '{}'}}],
      },
      {
        timestamp: TIME,
        role: 'tool_result',
        tool_call_id: `r${n}`,
        content: JSON.stringify({success: true, agents: `${n}`.repeat(9_000)}),
      },
      assistant('Read.'),
    ]);
    makeSession(house.home, 'results', talk);
    append(house.home, 'results', 'And now?');
    const {header} = await whenIt(
      house.home,
      'results',
      (lines, session) => lines.at(-1) === 'assistant: fine' && atRest(lines, session),
    );
    expect(header?.context).toBeUndefined();
    const request = requests.at(-1) as ChatRequest;
    const results = request.messages.filter(({role}) => role === 'tool').map(({content}) => String(content));
    expect(JSON.parse(results[0] ?? '')).toEqual({
      success: true,
      shortened: expect.stringContaining('message 3 of sessions/results.session.yaml'),
    });
    expect(results.at(-1)).toContain('3'.repeat(9_000));
    expect(request.tools?.map(tool => tool.function.name)).toContain('recall');
    expect(shown).toEqual([request.messages, request.tools?.map(tool => tool.function)]);
  });
});

describe('a person', () => {
  it('compacts, edits, pins, undoes and redoes, and each takes effect at the next turn', async () => {
    play(request => (isNotes(request) ? goodNotes(request) : {text: 'fine'}));
    const talk = longTalk().slice(0, 40);
    makeSession(house.home, 'mine', talk);
    await until(
      () => read(house.home, pathOf('mine')),
      text => text !== '',
    );
    const before = await contextOf(house.home, 'mine');
    const text = read(house.home, pathOf('mine'));
    const {code, stdout} = await agentdir(house.home, ['compact', 'mine', '--keep', '4']);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^compacted mine up to message 36: about .* \(version 2\)\n/),
    ]);
    const path = join(house.home, checkpointPath('mine', 2));
    const compacted = await contextOf(house.home, 'mine');
    expect(compacted.checkpoint).toMatchObject({version: 2, upto: 36});
    expect(compacted.tokens).toBeLessThan(before.tokens);
    expect((await agentdir(house.home, ['show', 'mine'])).stdout).toMatch(
      /#36 [\s\S]*── checkpoint \(version 2\): messages 1 to 36 are sent as [\s\S]*#37/,
    );
    writeFileSync(path, `${readFileSync(path, 'utf8')}\nThe person prefers tea.\n`);
    const pinned = read(house.home, pathOf('mine')).replace(/(content: .?FACT 1:[^\n]*\n)/, '$1    pin: true\n');
    writeFileSync(join(house.home, pathOf('mine')), pinned);
    append(house.home, 'mine', 'And now?');
    await whenIt(house.home, 'mine', (lines, session) => lines.at(-1) === 'assistant: fine' && atRest(lines, session));
    const seen = textOf(requests.at(-1) as ChatRequest);
    expect(seen).toContain('The person prefers tea.');
    expect(seen).toMatch(/## Pinned messages\nMessage 1 \(human\):\nFACT 1: the code of room 1/);
    expect((await agentdir(house.home, ['compact', 'mine', '--undo'])).stdout).toMatch(
      /^undone version 2 of mine: all its messages are sent again/,
    );
    const undone = await contextOf(house.home, 'mine');
    expect(JSON.stringify(undone.messages.slice(0, before.messages.length))).toBe(JSON.stringify(before.messages));
    expect(undone.messages).toHaveLength(before.messages.length + 2);
    await agentdir(house.home, ['check']);
    const redo = read(house.home, pathOf('mine')).replace(/^(context:\s+version: )1$/m, '$12');
    expect(redo).not.toBe(read(house.home, pathOf('mine')));
    writeFileSync(join(house.home, pathOf('mine')), redo);
    expect((await contextOf(house.home, 'mine')).checkpoint).toMatchObject({version: 2, upto: 36});
    // The messages are all there, as they were.
    const bodyOf = (of: string) => of.slice(of.indexOf('messages:')).replace('    pin: true\n', '');
    expect(bodyOf(redo).startsWith(bodyOf(text).trimEnd())).toBe(true);
  });

  it('gets a clear no where there is nothing to compact, and the session stays as it is', async () => {
    makeSession(house.home, 'short', [user('Hello'), assistant('Hi')]);
    const {code, stderr} = await agentdir(house.home, ['compact', 'short']);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('nothing to compact: short has 2 messages since its beginning, and the last 10 stay'),
    ]);
    play(request => (isNotes(request) ? {text: 'blah '.repeat(4_000)} : {text: 'fine'}));
    makeSession(house.home, 'refused', longTalk().slice(0, 40));
    const refused = await agentdir(house.home, ['compact', 'refused', '--keep', '2']);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('the checkpoint that the model wrote is too long'),
    ]);
    expect(sessionOf(house.home, 'refused').header).toMatchObject({status: 'sleeping'});
  });

  it('is told of a version that is not there, and of a checkpoint that is gone; nothing is sent', async () => {
    play(() => ({text: 'not to be asked'}));
    const before = requests.length;
    const text = newSession(
      {
        session_id: 'wrong',
        agent_id: 'rememberer',
        model: 'small',
        keeps: ['model'],
        status: 'active',
        context: {version: 7, versions: [{version: 1, reason: 'original'}]},
      },
      [user('Hello')],
      '../schemas/session.json',
    );
    put(house.home, {[pathOf('wrong')]: text});
    const unknown = await agentdir(house.home, ['check', pathOf('wrong')]);
    expect(unknown.code).toBe(4);
    expect(unknown.stdout).toMatch(
      /sessions\/wrong\.session\.yaml:\d+:\d+: error UNKNOWN_VERSION: expected a version of the list, 1, got 7|UNKNOWN_VERSION/,
    );
    const lost = text
      .replace('version: 7', 'version: 2')
      .replace(
        /( +)- version: 1\n +reason: original\n/,
        '$&$1- version: 2\n$1  reason: compacted\n$1  upto: msg-0001\n$1  file: sessions/archive/wrong.compact.2.md\n',
      );
    put(house.home, {[pathOf('wrong')]: lost});
    const missing = await agentdir(house.home, ['check', pathOf('wrong')]);
    expect([missing.code, missing.stdout]).toEqual([4, expect.stringContaining('MISSING_CHECKPOINT')]);
    append(house.home, 'short', 'Hello again');
    await whenIt(house.home, 'short', lines => lines.at(-1) === 'assistant: not to be asked');
    expect(requests.slice(before).some(request => textOf(request).includes('wrong'))).toBe(false);
    expect(sessionOf(house.home, 'wrong').messages).toHaveLength(1);
    put(house.home, {[pathOf('wrong')]: text.replace('version: 7', 'version: 1').replace('active', 'paused')});
    await until(
      () => agentdir(house.home, ['check', pathOf('wrong')]),
      ({code}) => code === 0,
    );
  });
});

describe('a flood of lines', () => {
  it('is given to the model in batches, and what was handled is compacted', async () => {
    const before = requests.length;
    play(request => (isNotes(request) ? {text: '## Facts\nLines were handled.'} : {text: 'handled'}));
    const lines = Array.from({length: 500}, (_, n) =>
      JSON.stringify({text: `disk ${n} is full`, from: 'monitor', to: 'rememberer'}),
    );
    put(house.home, {'inbox/flood.jsonl': `${lines.join('\n')}\n`});
    const all = () => requests.slice(before).filter(request => !isNotes(request));
    await until(
      () => all().map(textOf).join('\n').includes('disk 499 is full'),
      seen => seen,
      30_000,
    );
    const counts = all().map(({messages}) => {
      const last = messages.findLastIndex(({role}) => role === 'assistant');
      return messages.slice(last + 1).filter(({role}) => role === 'user').length;
    });
    expect(Math.max(...counts)).toBeLessThanOrEqual(51);
    expect(Math.max(...all().map(({messages}) => messages.length))).toBeLessThan(300);
    expect(Math.max(...requests.map(tokensIn))).toBeLessThanOrEqual(WINDOW);
    for (const n of [0, 123, 499]) expect(all().map(textOf).join('\n')).toContain(`disk ${n} is full`);
  });
});
