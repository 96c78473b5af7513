import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {type Facts, unreadFacts} from '../../src/check/facts.ts';
import {HomeIndex} from '../../src/check/home-index.ts';
import {factsOf} from '../../src/check/read-facts.ts';
import {placesIn} from '../../src/check/session-places.ts';
import {byPlace, problem} from '../../src/formats/common/diagnostic.ts';
import {lineStarts} from '../../src/formats/common/lines.ts';
import {parseSession} from '../../src/formats/session/session.ts';
import {placeOfValue, readYaml} from '../../src/formats/yaml/yaml-source.ts';
import {runs} from '../arbitrary.ts';
import {cpu} from '../cpu.ts';
import {someFile} from './some-files.ts';

function indexOf(files: ReadonlyMap<string, Facts>): HomeIndex {
  const index = new HomeIndex();
  for (const [path, facts] of files) index.set(path, facts);
  index.settle();
  return index;
}

const step = fc.oneof(
  {weight: 6, arbitrary: someFile.map(file => ({...file, what: 'set' as const}))},
  {weight: 2, arbitrary: someFile.map(file => ({...file, what: 'remove' as const}))},
  {
    weight: 3,
    arbitrary: fc.record({what: fc.constantFrom('push down' as const, 'turn round' as const), pick: fc.nat()}),
  },
  {weight: 2, arbitrary: fc.constant({what: 'settle' as const})},
);

/** The same tasks, on other lines or in another order. */
function moved(text: string, how: 'push down' | 'turn round'): string {
  if (how === 'push down') return `\n${text}`;
  const [head = '', ...tasks] = text.split(/^(?=- \[)/m);
  return head + tasks.reverse().join('');
}

describe('pages of approvals', () => {
  const PAGE = 'approvals/pending/a-1.approval.md';
  const QUEUE = 'tasks/approvals.task.md';
  const page = '# Approval Request: a-1\n\n## Review\n\n**Decision:**\n';
  const item = (id: string) => `- [_] A @human "Approve"\n  id: ${id}\n  agent: human\n`;

  it('are orphans only of a queue that can be read; a copy in it is to be removed', () => {
    const index = indexOf(new Map([[PAGE, factsOf(PAGE, page)]]));
    const codes = (path: string) => index.problems(path).map(({code, hint}) => `${code}: ${hint}`);
    const queue = (text: string) => {
      index.set(QUEUE, factsOf(QUEUE, text));
      index.settle();
    };
    expect(codes(PAGE)).toEqual([]);
    queue(item('b-1'));
    expect(codes(PAGE)).toEqual(['ORPHANED_APPROVAL: move it to approvals/rejected/']);
    queue(item('b-1') + item('b-1'));
    expect(codes(PAGE)).toEqual([]);
    expect(codes(QUEUE)).toContain('DUPLICATE_ID: remove the copy');
    queue(item('a-1'));
    expect(codes(PAGE)).toEqual([]);
  });
});

describe('an index that is kept up to date', () => {
  it('says the same as one made from the files as they are, whatever happened to them', () => {
    fc.assert(
      fc.property(fc.array(step, {maxLength: 40, size: 'max'}), steps => {
        const files = new Map<string, Facts>();
        const texts = new Map<string, string>();
        const index = new HomeIndex();
        const set = (path: string, text: string) => {
          const facts = factsOf(path, text);
          expect(JSON.parse(JSON.stringify(facts))).toEqual(facts);
          texts.set(path, text);
          files.set(path, facts);
          index.set(path, facts);
        };
        const told = new Map<string, unknown>();
        const settle = () => {
          for (const {path, problems} of index.settle()) {
            expect(problems, 'only what changed is told').not.toEqual(told.get(path) ?? []);
            told.set(path, problems);
          }
        };
        for (const action of steps) {
          if (action.what === 'settle') settle();
          else if (action.what === 'remove') {
            texts.delete(action.path);
            files.delete(action.path);
            index.remove(action.path);
          } else if (action.what === 'set') set(action.path, action.text);
          else {
            const all = [...texts].filter(([path]) => path.startsWith('tasks/'));
            const [path, text] = all[action.pick % all.length] ?? [];
            if (path !== undefined && text !== undefined) set(path, moved(text, action.what));
          }
        }
        settle();
        const fresh = indexOf(files);
        expect(index.all()).toEqual(fresh.all());
        expect(index.all()).toEqual([...index.all()].sort(byPlace));
        expect([...told.values()].flat()).toHaveLength(index.all().length);
        expect(index.needs()).toEqual(fresh.needs());
        expect(index.counts()).toEqual(fresh.counts());
        expect([...index.paths()].sort()).toEqual([...files.keys()].sort());
        // Nothing is left behind by files that are gone.
        for (const path of files.keys()) index.remove(path);
        index.settle();
        expect([index.all(), index.needs(), index.counts()]).toEqual([
          [],
          [],
          {agents: 0, sessions: 0, messages: 0, tasks: 0},
        ]);
      }),
      runs(400),
    );
  });

  it('the order of the files makes no difference', () => {
    fc.assert(
      fc.property(
        fc
          .uniqueArray(someFile, {selector: file => file.path, maxLength: 20, size: 'max'})
          .chain(files => fc.tuple(fc.constant(files), fc.shuffledSubarray(files, {minLength: files.length}))),
        ([files, shuffled]) => {
          const facts = (all: typeof files) => new Map(all.map(({path, text}) => [path, factsOf(path, text)]));
          expect(indexOf(facts(shuffled)).all()).toEqual(indexOf(facts(files)).all());
        },
      ),
      runs(100),
    );
  });
});

describe('places in a session', () => {
  it('are those of the whole text', () => {
    const paths = [
      ['session_id'],
      ['agent_id'],
      ['status'],
      ['messages', 0],
      ['messages', 1, 'tool_calls', 0, 'approval'],
    ];
    fc.assert(
      fc.property(
        someFile.filter(({path}) => path.startsWith('sessions/')),
        ({text}) => {
          const session = parseSession(text);
          const source = readYaml(text);
          for (const path of paths)
            if (path.length === 1 || session.messages.length > Number(path[1]))
              expect(placesIn(session)(path), path.join()).toEqual(placeOfValue(source, path, lineStarts(text)));
        },
      ),
      runs(500),
    );
  });
});

describe('what a change touches', () => {
  const session = (id: string, agent = 'a') =>
    factsOf(`sessions/${id}.session.yaml`, `session_id: ${id}\nagent_id: ${agent}\nmessages: []\n`);
  const template = factsOf('templates/a.agent.yaml', 'id: a\ntype: t\nsystem_prompt: p\ncapabilities: [read_file]\n');

  it('one session: the others are not even looked at', () => {
    const index = new HomeIndex();
    let looks = 0;
    const counted = (facts: Facts) =>
      new Proxy(facts, {
        get(target, key) {
          looks++;
          return Reflect.get(target, key);
        },
      });
    index.set('templates/a.agent.yaml', counted(template));
    for (let i = 0; i < 100; i++) index.set(`sessions/s${i}.session.yaml`, counted(session(`s${i}`)));
    index.settle();
    expect(looks).toBeGreaterThan(100);
    index.set('sessions/new.session.yaml', session('new'));
    looks = 0;
    index.set('sessions/new.session.yaml', session('new', 'nobody'));
    expect(index.settle().map(({path}) => path)).toEqual(['sessions/new.session.yaml']);
    index.remove('sessions/new.session.yaml');
    expect(index.settle()).toEqual([{path: 'sessions/new.session.yaml', problems: []}]);
    expect(looks).toBe(0);
  });

  it('a template that goes and comes back: all sessions of that agent, and no others', () => {
    const index = new HomeIndex();
    index.set('templates/a.agent.yaml', template);
    for (const id of ['s', 't', 'u']) index.set(`sessions/${id}.session.yaml`, session(id, id === 'u' ? 'b' : 'a'));
    index.settle();
    index.remove('templates/a.agent.yaml');
    expect(index.settle().map(({path}) => path)).toEqual([
      'sessions/s.session.yaml',
      'sessions/t.session.yaml',
      'sessions/u.session.yaml',
    ]);
    expect(index.problems('sessions/s.session.yaml')).toMatchObject([{code: 'MISSING_TEMPLATE'}]);
    index.set('templates/a.agent.yaml', template);
    index.settle();
    expect(index.all()).toMatchObject([{code: 'MISSING_TEMPLATE', file: 'sessions/u.session.yaml'}]);
  });

  it('the second of two with one id has the problem, until the first goes', () => {
    const index = new HomeIndex();
    index.set('templates/a.agent.yaml', template);
    index.set('sessions/s.session.yaml', session('s'));
    index.set('sessions/x/s.session.yaml', session('s'));
    index.settle();
    expect(index.all()).toMatchObject([{code: 'DUPLICATE_ID', file: 'sessions/x/s.session.yaml'}]);
    index.remove('sessions/s.session.yaml');
    expect(index.settle()).toEqual([{path: 'sessions/x/s.session.yaml', problems: []}]);
  });

  it('what cannot be read has its problem, and is nobody', () => {
    const index = new HomeIndex();
    index.set('sessions', unreadFacts('sessions', [problem('UNREADABLE', {line: 1, column: 1}, 'm', 'h', 'sessions')]));
    index.settle();
    expect(index.all()).toMatchObject([{code: 'UNREADABLE', file: 'sessions'}]);
    expect(index.definitionsOf('session/s')).toEqual([]);
  });
});

describe('tasks that were begun', () => {
  const path = 'tasks/a.task.md';
  const session = 'sessions/s.session.yaml';
  const begun = (names: string) => factsOf(path, `- [/] ${names} "T"\n  id: t\n  session: s\n`);
  const template = 'templates/p.agent.yaml';
  const facts = factsOf(template, 'id: p\ntype: p\nsystem_prompt: Do.\ncapabilities: [read_file]\n');
  const there = (names: string, of: Facts | undefined) => {
    const index = new HomeIndex();
    index.set(template, facts);
    index.set(path, begun(names));
    if (of) index.set(session, of);
    index.settle();
    return {codes: index.problems(path).map(({code}) => code), needs: index.needs().map(({what}) => what)};
  };
  const good = factsOf(session, 'agent_id: p\nmessages: []\n');

  it('stand still once the session is gone', () => {
    expect(there('@p', good)).toEqual({codes: [], needs: []});
    expect(there('@p', undefined)).toEqual({codes: ['MISSING_SESSION'], needs: ['stalled']});
  });

  it('and not while it only cannot be read', () => {
    const unread = unreadFacts(session, [problem('NOT_UTF8', {line: 1, column: 1}, 'm', 'h', session)]);
    expect(there('@p', unread)).toEqual({codes: [], needs: []});
  });

  it("are a person's too, if they are for one beside the agent", () => {
    expect(there('@p @human', good)).toEqual({codes: [], needs: ['task']});
  });

  it.each(['@human', '@away/p', '@p@pr-1'])('of %s have their sessions elsewhere', names => {
    expect(there(names, undefined).codes).not.toContain('MISSING_SESSION');
  });
});

describe('tasks that wait for each other', () => {
  const task = (id: string, dependsOn: string, box = ' ') =>
    `- [${box}] @human "T"\n  id: ${id}\n  depends_on: ${dependsOn}\n`;

  it('are told once, in the first file, and no more once one of them is done', () => {
    const index = new HomeIndex();
    index.set('tasks/b.task.md', factsOf('tasks/b.task.md', task('one', 'two')));
    index.set('tasks/c.task.md', factsOf('tasks/c.task.md', task('two', 'three')));
    index.settle();
    index.set('tasks/a.task.md', factsOf('tasks/a.task.md', task('three', 'one')));
    index.settle();
    expect(index.all()).toMatchObject([
      {
        code: 'DEPENDENCY_CYCLE',
        file: 'tasks/a.task.md',
        line: 3,
        message: expect.stringContaining('three → one → two → three'),
      },
    ]);
    index.set('tasks/c.task.md', factsOf('tasks/c.task.md', task('two', 'three', 'x')));
    expect(index.settle()).toEqual([{path: 'tasks/a.task.md', problems: []}]);
  });

  it.each([
    ['in one file', 1],
    ['in a file each', 10_000],
  ])('ten thousand in a chain, %s, are fast, and so is closing the circle', (_where, count) => {
    const total = 10_000;
    const texts = new Map<string, string>();
    for (let i = 0; i < total; i++) {
      const path = `tasks/${String(i % count).padStart(5, '0')}.task.md`;
      texts.set(path, (texts.get(path) ?? '') + task(`t${i}`, i + 1 < total ? `t${i + 1}` : 'end'));
    }
    texts.set('tasks/z.task.md', task('end', '', 'x'));
    const facts = [...texts].map(([path, text]): [string, Facts] => [path, factsOf(path, text)]);
    const closing = factsOf('tasks/z.task.md', task('end', 't0'));
    const index = new HomeIndex();
    const start = cpu();
    for (const [path, fact] of facts) index.set(path, fact);
    index.settle();
    expect(index.all()).toEqual([]);
    const settled = cpu();
    index.set('tasks/z.task.md', closing);
    expect(index.settle().map(({path}) => path)).toEqual(['tasks/00000.task.md']);
    expect(index.all()).toMatchObject([{code: 'DEPENDENCY_CYCLE', line: 3}]);
    // Far above what it takes (npm run bench check), far below what a walk from each of them would.
    expect(cpu() - settled).toBeLessThan(2_000);
    expect(settled - start).toBeLessThan(2_000);
  });
});
