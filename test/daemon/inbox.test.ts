import {
  appendFileSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {open} from 'node:fs/promises';
import {join} from 'node:path';
import {gzipSync} from 'node:zlib';
import {describe, expect, it} from 'vitest';
import {parseSession} from '../../src/formats/session/session.ts';
import type {Message} from '../../src/formats/session/session-schema.ts';
import {agentdir, put, until} from '../cli/run.ts';
import {openHouse} from './house.ts';
import {read, serve, settled} from './serve.ts';

const SETTINGS = `format: 1
default_agent: talker
inbox:
  routes:
    - {files: "fresh*.jsonl", to: fresh}
    - {files: "late*.jsonl", to: late}
    - {files: "keyed*.jsonl", to: talker, key: event.id}
    - {files: "own*.jsonl", to: talker, thread: room}
    - {files: "pair*.jsonl", to: talker, thread: room, key: id}
`;
const agent = (id: string, rest = '') =>
  `id: ${id}\ntype: t\nsystem_prompt: You are brief.\ncapabilities: [list_agents]\n${rest}`;

const house = openHouse(
  () => ({
    'agentdir.yaml': SETTINGS,
    'templates/fresh.agent.yaml': agent('fresh', 'context: fresh\n'),
    'templates/late.agent.yaml': agent('late'),
  }),
  ['sessions/broken/broken-shared.session.yaml'],
);

const place = (name: string) => join(house.home, 'inbox', name);
const lineOf = (text: string, rest: Record<string, unknown> = {}) => `${JSON.stringify({text, ...rest})}\n`;
const append = (name: string, ...lines: string[]) => appendFileSync(place(name), lines.join(''));

/** Every message that came from inboxes of this name, in sessions and segments, with the session it is in. */
function delivered(stem: string, home = house.home): (Message & {session: string})[] {
  const files = readdirSync(join(home, 'sessions'), {recursive: true}).map(String);
  return files
    .filter(file => file.endsWith('.session.yaml'))
    .sort((a, b) => a.localeCompare(b, 'en', {numeric: true}))
    .flatMap(file => {
      const {messages} = parseSession(readFileSync(join(home, 'sessions', file), 'utf8'));
      return messages
        .filter(({from}) => from?.startsWith(`inbox/${stem}`))
        .map(message => ({...message, session: file.replace(/.*\/|\.session\.yaml$/g, '')}));
    });
}

const texts = (stem: string, home?: string) => delivered(stem, home).map(({content}) => content?.split('\n')[0]);

/** Until these are there, and nothing else. */
async function arrived(stem: string, expected: readonly string[], home = house.home): Promise<void> {
  await until(
    () => texts(stem, home),
    found => found.length >= expected.length,
  );
  expect([...texts(stem, home)].sort()).toEqual([...expected].sort());
}

/** Until the cursor is at the end of the file, but for what has no newline yet. */
async function readUp(name: string, home = house.home): Promise<void> {
  const text = () => readFileSync(join(home, 'inbox', name));
  const offset = () => /^offset: (\d+)/m.exec(read(home, `state/inbox/${name.replace('.jsonl', '.yaml')}`))?.[1];
  await until(offset, found => Number(found) === text().lastIndexOf(10) + 1);
}

describe('a line of an inbox', () => {
  it('comes to the default agent as data from outside, once it has its newline', async () => {
    append('plain.jsonl', lineOf('Is Redis up?', {from: 'boss', channel: 'ops'}), '{"text": "half');
    await arrived('plain', ['Is Redis up?']);
    const [message] = delivered('plain');
    expect(message).toMatchObject({from: 'inbox/plain.jsonl#1', untrusted: true, session: 'talker-shared'});
    expect(message?.content).toBe('Is Redis up?\n\nfrom: boss\nchannel: ops');
    const request = await until(
      () =>
        house.stage
          .asked('Message')
          .at(-1)
          ?.messages.findLast(({role}) => role === 'user'),
      found => found?.content?.includes('Redis') === true,
    );
    expect(request?.content).toContain('```\nIs Redis up?');
    expect(read(house.home, 'sessions/talker/talker-shared.session.yaml')).toContain('inbox/plain.jsonl#1');
    append('plain.jsonl', ' a line"}\n');
    await arrived('plain', ['Is Redis up?', 'half a line']);
    await readUp('plain.jsonl');
  });

  it('waits for the shared session while that has errors, and does not begin another', async () => {
    put(house.home, {'templates/broken.agent.yaml': agent('broken')});
    append('broken.jsonl', lineOf('one', {to: 'broken'}));
    await arrived('broken', ['one']);
    const shared = 'sessions/broken/broken-shared.session.yaml';
    await settled(house.home, shared, text => text.includes('status: sleeping'));
    const whole = read(house.home, shared);
    put(house.home, {[shared]: whole.replace(/^status: .*/m, 'status: [')});
    await until(
      () => read(house.home, 'NEEDS_YOU.md'),
      text => text.includes('broken-shared'),
    );
    append('broken.jsonl', lineOf('two', {to: 'broken'}), lineOf('for another'));
    await until(
      () => texts('broken'),
      found => found.includes('for another'),
    );
    expect(readdirSync(join(house.home, 'sessions/broken'))).toEqual(['broken-shared.session.yaml']);
    put(house.home, {[shared]: whole});
    await arrived('broken', ['one', 'two', 'for another']);
    expect(delivered('broken').map(({session}) => session)).toEqual([
      'broken-shared',
      'broken-shared',
      'talker-shared',
    ]);
  });

  it('that the daemon wrote itself, or that is blank, is not delivered', async () => {
    append('out.jsonl', lineOf('sent', {direction: 'out'}), '\n', '\ufeff\r\n', '{"direction":"out"}\n', lineOf('in'));
    await arrived('out', ['in']);
    expect(delivered('out')[0]?.from).toBe('inbox/out.jsonl#5');
    await readUp('out.jsonl');
  });

  it('that is none is set aside with the reason, and stops nothing', async () => {
    const long = `{"text": "${'x'.repeat(1_100_000)}"}\n`;
    append('bad.jsonl', lineOf('one'), 'garbage\n', '[1]\n', '{"text": 1}\n', long);
    appendFileSync(place('bad.jsonl'), Buffer.from([0xff, 0xfe, 10]));
    append('bad.jsonl', lineOf('two'));
    await arrived('bad', ['one', 'two']);
    await readUp('bad.jsonl');
    const aside = read(house.home, 'inbox/rejected/bad.jsonl')
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as {line: number; reason: string; text?: string; base64?: string});
    expect(aside.map(({line}) => line)).toEqual([2, 3, 4, 5, 6]);
    expect(aside[0]).toMatchObject({
      text: 'garbage',
      reason: 'expected a JSON object {…} on one line, found something else',
    });
    expect(aside[3]?.reason).toBe('expected at most 1 MB in a line, found 1100013 bytes');
    expect(aside[3]?.text?.length).toBe(4096);
    expect(aside[4]).toMatchObject({base64: '//4=', reason: 'expected UTF-8 text, found other bytes'});
    await until(
      () => read(house.home, 'NEEDS_YOU.md'),
      text => text.includes('line 6 of inbox/bad.jsonl is set aside'),
    );
    const status = await agentdir(house.home, ['status']);
    expect(status.stdout).toContain('line 7 went to talker-shared; rejected lines are in inbox/rejected/bad.jsonl');
    // What is read is over and done with: only what was set aside is wrong now.
    const check = await agentdir(house.home, ['check', '--json']);
    expect(check.stdout).not.toContain('"inbox/bad.jsonl"');
    writeFileSync(place('rejected/bad.jsonl'), '');
    await until(
      () => read(house.home, 'NEEDS_YOU.md'),
      text => !text.includes('bad.jsonl'),
    );
  });

  it('has a session of its own with `context: fresh`, and one for each thread', async () => {
    append('fresh.jsonl', lineOf('f1'), lineOf('f2'), lineOf('f3', {thread: 'T'}), lineOf('f4', {thread: 'T'}));
    append(
      'own.jsonl',
      lineOf('r1', {room: 7}),
      lineOf('r2', {room: 7}),
      lineOf('r3', {room: 8}),
      lineOf('r4', {thread: 'T'}),
    );
    await arrived('fresh', ['f1', 'f2', 'f3', 'f4']);
    await arrived('own', ['r1', 'r2', 'r3', 'r4']);
    const sessionOf = (stem: string) =>
      Object.fromEntries(delivered(stem).map(({content, session}) => [content?.slice(0, 2), session]));
    const fresh = sessionOf('fresh');
    expect(new Set([fresh.f1, fresh.f2, fresh.f3]).size).toBe(3);
    expect(fresh.f4).toBe(fresh.f3);
    const own = sessionOf('own');
    expect(own.r2).toBe(own.r1);
    expect(own.r3).not.toBe(own.r1);
    expect(own.r4).toBe('talker-shared');
  });

  it('with a key that was delivered before is not delivered again, in whichever file of the route', async () => {
    append(
      'keyed.jsonl',
      lineOf('k1', {event: {id: 'a'}}),
      lineOf('k1 again', {event: {id: 'a'}}),
      lineOf('k2', {event: {id: 'b'}}),
    );
    await arrived('keyed', ['k1', 'k2']);
    await readUp('keyed.jsonl');
    append('keyed-2.jsonl', lineOf('k2 again', {event: {id: 'b'}}), lineOf('no key'), lineOf('k3', {event: {id: 'c'}}));
    await arrived('keyed', ['k1', 'k2', 'no key', 'k3']);
  });

  it('with a key comes once although it names another conversation, and its number is not rounded', async () => {
    append('pair.jsonl', lineOf('p1', {id: 'a', room: 1}));
    append('pair.jsonl', '{"text": "p2", "id": 1234567890123456789}\n{"text": "p3", "id": 1234567890123456790}\n');
    await arrived('pair', ['p1', 'p2', 'p3']);
    expect(delivered('pair').at(-1)?.content).toContain('id: 1234567890123456790');
    await readUp('pair.jsonl');
    append('pair.jsonl', lineOf('p1 again', {id: 'a', room: 2}), lineOf('p4', {id: 'b', room: 2}));
    await arrived('pair', ['p1', 'p2', 'p3', 'p4']);
  });

  it('tells all that it says: beside the text, or where that is empty, also what is long', async () => {
    append(
      'all.jsonl',
      lineOf('', {body: 'a1'}),
      lineOf('a2', {message: 'a2', body: 'more of it', content: {deep: 1}}),
      lineOf('a3', {note: 'n'.repeat(3_000), last: 'yes'}),
    );
    await arrived('all', ['a1', 'a2', 'a3']);
    const [, second, third] = delivered('all').map(({content}) => content);
    expect(second).toBe('a2\n\nbody: more of it\ncontent: {"deep":1}');
    expect(third).toMatch(/^a3\n\nnote: n{1900,}…\n\[… more is in inbox\/all\.jsonl, line 3\]$/);
  });

  it('that is addressed to nobody at all, or takes a reader long, stops nothing', async () => {
    // Quotes that never end: read again from each of them, these would take a minute.
    const quotes = `{"id": 1234567890123456789, ${'\\"'.repeat(80_000)}}\n`;
    append('odd.jsonl', lineOf('o1', {to: ''}), lineOf('o2', {to: ' @ '}), quotes, lineOf('o3'));
    await arrived('odd', ['o1', 'o3']);
    const aside = read(house.home, 'inbox/rejected/odd.jsonl').trim().split('\n');
    expect(aside.map(line => (JSON.parse(line) as {reason: string}).reason)).toEqual([
      'expected the name of an agent in "to", got " @ "',
      expect.stringContaining('expected a JSON object, found text that is not JSON'),
    ]);
    writeFileSync(place('rejected/odd.jsonl'), '');
  });

  it('that is nested too deeply to be shown, or names nobody that can be, stops nothing', async () => {
    const deep = `{"text": "d1", "list": ${'['.repeat(100_000)}${']'.repeat(100_000)}}\n`;
    append('deep.jsonl', deep, lineOf('d2', {to: `${'n'.repeat(500_000)}\u001b[2J`}), lineOf('d3'));
    await arrived('deep', ['d1', 'd3']);
    expect(delivered('deep')[0]?.content).toBe('d1\n\nlist: [nested too deeply]');
    const aside = JSON.parse(read(house.home, 'inbox/rejected/deep.jsonl')) as {reason: string; to?: string};
    expect(aside.reason).toBe(`expected the name of an agent in "to", got "${'n'.repeat(60)}…"`);
    expect(aside.to).toBeUndefined();
    writeFileSync(place('rejected/deep.jsonl'), '');
  });

  it('is told from the same one in a file of a similar name', async () => {
    append('same(1).jsonl', lineOf('s1'));
    append('same_1_.jsonl', lineOf('s1'));
    append('same😀.jsonl', lineOf('s1'));
    await arrived('same', ['s1', 's1', 's1']);
  });

  it('for an agent that is not there waits, and comes when it is', async () => {
    append('to.jsonl', lineOf('t1', {to: '@nobody'}), lineOf('t2', {to: 'fresh'}), lineOf('t3', {to: 'nobody'}));
    await arrived('to', ['t2']);
    await until(
      () => read(house.home, 'NEEDS_YOU.md'),
      text => text.includes('nobody is not an agent'),
    );
    put(house.home, {'templates/nobody.agent.yaml': agent('nobody')});
    await arrived('to', ['t1', 't2', 't3']);
    await until(
      () => read(house.home, 'inbox/rejected/to.jsonl'),
      text => text === '',
    );
    expect(
      delivered('to')
        .map(({session}) => session)
        .filter(session => session === 'nobody-shared'),
    ).toHaveLength(2);
    await until(
      () => read(house.home, 'NEEDS_YOU.md'),
      text => !text.includes('nobody'),
    );
  });

  it('waits in its file as long as the agent of its route is not there', async () => {
    renameSync(join(house.home, 'templates/late.agent.yaml'), join(house.home, 'late'));
    await until(
      () => read(house.home, 'NEEDS_YOU.md'),
      text => text.includes('late is not an agent'),
    );
    append('late.jsonl', lineOf('l1'));
    await until(
      () => read(house.home, 'NEEDS_YOU.md'),
      text => text.includes('inbox/late.jsonl:1'),
    );
    expect(texts('late')).toEqual([]);
    renameSync(join(house.home, 'late'), join(house.home, 'templates/late.agent.yaml'));
    await arrived('late', ['l1']);
    await readUp('late.jsonl');
  });
});

describe('a file', () => {
  it('that is renamed is read to its end, and the next one from its beginning', async () => {
    append('log.jsonl', lineOf('a1'), lineOf('same'));
    await arrived('log', ['a1', 'same']);
    const old = await open(place('log.jsonl'), 'a');
    renameSync(place('log.jsonl'), place('log.jsonl.1'));
    await old.write(lineOf('a3'));
    append('log.jsonl', lineOf('same'), lineOf('b2'));
    await arrived('log', ['a1', 'same', 'a3', 'same', 'b2']);
    // Whoever had it open goes on writing for a while.
    await old.write(lineOf('a4'));
    await old.close();
    await arrived('log', ['a1', 'same', 'a3', 'same', 'b2', 'a4']);
  });

  it('that comes and is renamed before anybody looks is read, whether or not another follows', async () => {
    append('brief.jsonl', lineOf('q1'));
    renameSync(place('brief.jsonl'), place('brief.jsonl.1'));
    append('burst.jsonl', lineOf('r1'));
    renameSync(place('burst.jsonl'), place('burst.jsonl.2'));
    append('burst.jsonl', lineOf('r2'));
    renameSync(place('burst.jsonl'), place('burst.jsonl.1'));
    append('burst.jsonl', lineOf('r3'));
    // A copy is no rotation.
    append('twin.jsonl', lineOf('s1'));
    copyFileSync(place('twin.jsonl'), place('twin.jsonl.1'));
    await arrived('brief', ['q1']);
    await arrived('burst', ['r1', 'r2', 'r3']);
    await readUp('twin.jsonl');
    await arrived('twin', ['s1']);
  });

  it('that comes and is renamed while none had its name is read, whether or not a daemon ran', async () => {
    const names = ['gone-a', 'gone-b', 'gone-c'];
    for (const name of names) append(`${name}.jsonl`, lineOf(`${name} 1`));
    for (const name of names) await arrived(name, [`${name} 1`]);
    for (const name of names) {
      renameSync(place(`${name}.jsonl`), place(`${name}.jsonl.1`));
      // One that nobody writes any more.
      if (name === 'gone-c') utimesSync(place(`${name}.jsonl.1`), new Date(), new Date(Date.now() - 60_000));
    }
    const rotate = (name: string) => {
      let last = 1;
      while (existsSync(place(`${name}.jsonl.${last}`))) last++;
      for (let n = last; n > 1; n--) renameSync(place(`${name}.jsonl.${n - 1}`), place(`${name}.jsonl.${n}`));
      renameSync(place(`${name}.jsonl`), place(`${name}.jsonl.1`));
    };
    const isGone = (name: string, generation: number) =>
      until(
        () => read(house.home, `state/inbox/${name}.yaml`),
        text => text.includes("inode: ''") && text.includes(`generation: ${generation}\n`),
      );
    for (const name of names) await isGone(name, 2);
    for (const name of names) {
      append(`${name}.jsonl`, lineOf(`${name} 2`));
      rotate(name);
    }
    for (const name of names) await arrived(name, [`${name} 1`, `${name} 2`]);
    for (const name of names) await isGone(name, 3);
    expect(await house.daemon.stop()).toBe(0);
    for (const name of names) {
      append(`${name}.jsonl`, lineOf(`${name} 3`));
      rotate(name);
      append(`${name}.jsonl`, lineOf(`${name} 4`));
      // Of one nothing has the name when the daemon comes.
      if (name === 'gone-b') rotate(name);
    }
    house.daemon = await serve(house.home, house.stage.env, end => house.ends.push(end));
    for (const name of names) await arrived(name, [`${name} 1`, `${name} 2`, `${name} 3`, `${name} 4`]);
  });

  it('that is renamed to another inbox goes on as that', async () => {
    append('move.jsonl', lineOf('m1'));
    await arrived('move', ['m1']);
    renameSync(place('move.jsonl'), place('move-20261117.jsonl'));
    append('move.jsonl', lineOf('m1'));
    append('move-20261117.jsonl', lineOf('m2'));
    await arrived('move', ['m1', 'm1', 'm2']);
  });

  it('that is renamed again and again goes on under each name', async () => {
    const old = (n: number) => place(`turn.${n}.jsonl`);
    append('turn.jsonl', lineOf('t1'), lineOf('t2'));
    await arrived('turn', ['t1', 't2']);
    const expected = ['t1', 't2'];
    for (const n of [3, 4, 5]) {
      for (const i of [2, 1]) if (existsSync(old(i))) renameSync(old(i), old(i + 1));
      renameSync(place('turn.jsonl'), old(1));
      append('turn.1.jsonl', lineOf(`late ${n}`));
      append('turn.jsonl', lineOf(`t${n}`));
      expected.push(`late ${n}`, `t${n}`);
      await arrived('turn', expected);
    }
    for (const name of ['turn.jsonl', 'turn.1.jsonl', 'turn.2.jsonl', 'turn.3.jsonl']) await readUp(name);
    expect([...texts('turn')].sort()).toEqual(expected.sort());
  });

  it('that cannot be opened keeps nobody from looking at the others', async () => {
    symlinkSync('circle.jsonl', place('circle.jsonl'));
    await until(
      () => read(house.home, 'NEEDS_YOU.md'),
      text => text.includes('inbox/circle.jsonl'),
    );
    expect((await agentdir(house.home, ['status'])).stdout).toContain('lines read');
    put(house.home, {'inbox/slack.json': lineOf('x'), 'inbox/sub/slack.jsonl': lineOf('x')});
    const {stdout} = await agentdir(house.home, ['doctor']);
    for (const path of ['inbox/slack.json', 'inbox/sub/']) expect(stdout).toContain(`${path} is not read`);
    for (const path of ['circle.jsonl', 'slack.json', 'sub']) rmSync(place(path), {recursive: true});
  });

  it('that is cut after it was copied begins anew', async () => {
    append('cut.jsonl', lineOf('c1'), lineOf('c2'));
    await arrived('cut', ['c1', 'c2']);
    await readUp('cut.jsonl');
    appendFileSync(place('cut.jsonl'), lineOf('c3'));
    copyFileSync(place('cut.jsonl'), place('cut.jsonl.1'));
    truncateSync(place('cut.jsonl'));
    append('cut.jsonl', lineOf('c1'));
    await arrived('cut', ['c1', 'c2', 'c3', 'c1']);
    await readUp('cut.jsonl');
  });

  it.each(['in place', 'by a new file'])('that an editor writes %s delivers what is new in it', async how => {
    const name = how === 'in place' ? 'nano.jsonl' : 'vim.jsonl';
    const stem = name.replace('.jsonl', '');
    const save = (lines: readonly string[]) => {
      const to = how === 'in place' ? place(name) : place('.new');
      writeFileSync(to, lines.join(''));
      if (how !== 'in place') renameSync(place('.new'), place(name));
    };
    save([lineOf('e1'), lineOf('e2'), lineOf('e2'), lineOf('e3')]);
    await arrived(stem, ['e1', 'e2', 'e2', 'e3']);
    await readUp(name);
    // One is removed, one changed, one new in the middle, one at the end.
    save([lineOf('e1'), lineOf('new'), lineOf('e2'), lineOf('e3 changed'), lineOf('end')]);
    await arrived(stem, ['e1', 'e2', 'e2', 'e3', 'new', 'e3 changed', 'end']);
    await readUp(name);
    append(name, lineOf('e2'));
    await arrived(stem, ['e1', 'e2', 'e2', 'e3', 'new', 'e3 changed', 'end', 'e2']);
  });

  it('that somebody writes out of order is waited for', async () => {
    append('hole.jsonl', lineOf('h1'));
    await arrived('hole', ['h1']);
    const second = Buffer.from(lineOf('h2'));
    const at = readFileSync(place('hole.jsonl')).length;
    const file = await open(place('hole.jsonl'), 'r+');
    await file.write(Buffer.from(lineOf('h3')), 0, undefined, at + second.length);
    // What was written after it has come meanwhile.
    append('beside-hole.jsonl', lineOf('b1'));
    await arrived('beside-hole', ['b1']);
    expect(texts('hole')).toEqual(['h1']);
    await file.write(second, 0, undefined, at);
    await file.close();
    await arrived('hole', ['h1', 'h2', 'h3']);
  });

  it('that changed while no daemon ran is told apart all the same', async () => {
    append('away.jsonl', lineOf('w1'), lineOf('w2'));
    append('moved.jsonl', lineOf('v1'));
    append('keyed-3.jsonl', lineOf('z', {event: {id: 'z'}}));
    append('lost.jsonl', lineOf('y1'));
    append('name.jsonl', lineOf('n1'), 'no record\n', lineOf('n2'));
    append('chain.jsonl', lineOf('c1'));
    append('pack.jsonl', lineOf('p1'));
    await arrived('pack', ['p1']);
    await readUp('pack.jsonl');
    await arrived('lost', ['y1']);
    await arrived('name', ['n1', 'n2']);
    await arrived('chain', ['c1']);
    rmSync(place('lost.jsonl'));
    renameSync(place('name.jsonl'), place('named.jsonl'));
    renameSync(place('chain.jsonl'), place('chain.1.jsonl'));
    append('chain.jsonl', lineOf('c2'));
    await readUp('named.jsonl');
    await readUp('chain.1.jsonl');
    await readUp('chain.jsonl');
    await until(
      () => read(house.home, 'state/inbox/lost.yaml'),
      text => text.includes('generation: 2'),
    );
    append('lost.jsonl', lineOf('y2'));
    await arrived('lost', ['y1', 'y2']);
    await readUp('lost.jsonl');
    await arrived('keyed-3', ['z']);
    await arrived('away', ['w1', 'w2']);
    await arrived('moved', ['v1']);
    await readUp('away.jsonl');
    await readUp('moved.jsonl');
    expect(await house.daemon.stop()).toBe(0);
    writeFileSync(place('.new'), [lineOf('w0'), lineOf('w2'), lineOf('w3')].join(''));
    renameSync(place('.new'), place('away.jsonl'));
    append('moved.jsonl', lineOf('v2'));
    renameSync(place('moved.jsonl'), place('moved.jsonl.2'));
    // One came and was renamed before anybody saw it.
    append('moved.jsonl', lineOf('v3'));
    renameSync(place('moved.jsonl'), place('moved.jsonl.1'));
    append('moved.jsonl', lineOf('v1'));
    append('keyed-3.jsonl', lineOf('z late', {event: {id: 'z'}}));
    // Rotated and compressed twice, and once rotated.
    for (const [n, name] of ['pack.jsonl.3.gz', 'pack.jsonl.2.gz', 'pack.jsonl.1'].entries()) {
      append('pack.jsonl', lineOf(`p${n + 2}`));
      const {atime, mtime} = statSync(place('pack.jsonl'));
      if (name.endsWith('.gz')) writeFileSync(place(name), gzipSync(readFileSync(place('pack.jsonl'))));
      else renameSync(place('pack.jsonl'), place(name));
      if (name.endsWith('.gz')) rmSync(place('pack.jsonl'));
      utimesSync(place(name), atime, mtime);
    }
    append('pack.jsonl', lineOf('p5'));
    rmSync(join(house.home, 'state/inbox/lost.yaml'));
    writeFileSync(place('named.jsonl'), [lineOf('n0'), lineOf('n1'), 'no record\n', lineOf('n2')].join(''));
    renameSync(place('chain.1.jsonl'), place('chain.2.jsonl'));
    renameSync(place('chain.jsonl'), place('chain.1.jsonl'));
    append('chain.jsonl', lineOf('c3'));
    house.daemon = await serve(house.home, house.stage.env, end => house.ends.push(end));
    await arrived('away', ['w1', 'w2', 'w0', 'w3']);
    await arrived('moved', ['v1', 'v2', 'v3', 'v1']);
    await arrived('pack', ['p1', 'p2', 'p3', 'p4', 'p5']);
    await readUp('pack.jsonl');
    // Nobody writes to them any more: what was unpacked is removed, and the next daemon does not unpack it again.
    const unpacked = () => readdirSync(place('')).filter(name => name.endsWith('.unpacked'));
    await until(
      () => {
        for (const name of unpacked()) utimesSync(place(name), 0, Date.now() / 1_000 - 60);
        return unpacked();
      },
      names => names.length === 0,
    );
    await readUp('keyed-3.jsonl');
    expect(texts('keyed-3')).toEqual(['z']);
    await readUp('lost.jsonl');
    expect(texts('lost')).toEqual(['y1', 'y2']);
    await arrived('name', ['n1', 'n2', 'n0']);
    await readUp('named.jsonl');
    expect(read(house.home, 'inbox/rejected/named.jsonl')).toBe('');
    writeFileSync(place('rejected/name.jsonl'), '');
    await arrived('chain', ['c1', 'c2', 'c3']);
    for (const name of ['chain.1.jsonl', 'chain.2.jsonl']) await readUp(name);
    expect(texts('chain')).toHaveLength(3);
  });

  it('with thousands of lines at once comes into one session and its segments, each line once and in order', async () => {
    const count = 1_500;
    const session = 'sessions/late/late-shared.session.yaml';
    append('first.jsonl', lineOf('first', {to: 'late'}));
    await arrived('first', ['first']);
    const stale = read(house.home, session);
    const lines = Array.from({length: count}, (_, i) => lineOf(`many ${i}`, {to: 'late'}));
    append('many.jsonl', ...lines);
    // The model is told all of it, in batches; what was handled is compacted, and moves to segments.
    const requests = () => [...house.stage.asked('Message'), ...house.stage.asked('')];
    await until(
      () =>
        requests()
          .at(-1)
          ?.messages.slice(-2)
          .map(({content}) => content?.slice(0, 200)),
      seen => seen?.some(content => content?.includes(`many ${count - 1}\n`)) === true,
      90_000,
    );
    expect(Math.max(...requests().map(({messages}) => messages.length))).toBeLessThan(600);
    const told = requests().flatMap(({messages}) =>
      messages.flatMap(({content}) => content?.match(/^many \d+$/m)?.[0] ?? []),
    );
    expect(new Set(told).size).toBe(count);
    await readUp('many.jsonl');
    await until(
      () => read(house.home, session),
      text => text.includes('status: sleeping'),
    );
    const found = delivered('many');
    expect(found.map(({content}) => content)).toEqual(lines.map((_, i) => `many ${i}`));
    const {segments = []} = parseSession(read(house.home, session)).header ?? {};
    // How many there are depends on how many lines came together.
    expect(segments.length).toBeGreaterThan(0);
    // A buffer that an editor has had open since before takes nothing of it back.
    put(house.home, {[session]: `${stale}  - role: user\n    content: and a word of mine\n`});
    await until(
      () => read(house.home, session),
      text => /word of mine[\s\S]*role: assistant/.test(text),
    );
    expect(delivered('many')).toHaveLength(count);
    expect(parseSession(read(house.home, session)).header?.segments).toEqual(segments);
  });
});
