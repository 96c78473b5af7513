import {HomeIndex} from '../dist/check/home-index.js';
import {factsOf} from '../dist/check/read-facts.js';
import {TaskQuery} from '../dist/query/task-query.js';
import {rounds, table, times} from './measure.mjs';
import {atMost, row} from './row.mjs';

const A_FILE = 100;
const RUNS = rounds(30, 10);
const MOST = {rows: 1_000, text: 64 * 1024, cell: 4_000};

const queries = [
  ['count by state', 'SELECT state, count(*) FROM tasks GROUP BY state'],
  ['ready, by priority', 'SELECT id, title FROM tasks WHERE ready ORDER BY priority, created LIMIT 20'],
  ['one of the tags', "SELECT count(*) FROM tasks WHERE tags CONTAINS 'docker'"],
  ['a word in a text', "SELECT count(*) FROM tasks WHERE prompt LIKE '%say so%'"],
  ['one file', "SELECT id, state FROM tasks/f0.task.md WHERE priority = 'B'"],
  ['each with its parent', 'SELECT count(*) FROM tasks t JOIN tasks d ON d.id = t.depends_on WHERE d.state = t.state'],
  ['1,000 rows with prompts', 'SELECT id, title, prompt FROM tasks'],
];

/** Tasks in files of a hundred, each waiting for the one before it. */
export function homeOf(count) {
  const texts = new Map([
    ['templates/executor-001.agent.yaml', 'id: executor-001\ntype: t\nsystem_prompt: p\ncapabilities: [read_file]\n'],
  ]);
  for (let first = 0; first < count; first += A_FILE) {
    const lines = ['## TODO', ''];
    for (let i = first; i < first + A_FILE; i++)
      lines.push(
        `- [${i % 3 ? ' ' : 'x'}] ${'ABCD'[i % 4]} @executor-001 #docker #n${i % 7} "Check container ${i}"`,
        `  id: task-${i}`,
        '  created: 2025-10-04T10:00:00.000Z',
        ...(i > 0 ? [`  depends_on: task-${i - 1}`] : []),
        '  prompt: |',
        '    Look whether it runs.',
        '',
        '    Then say so.',
        '  notes:',
        '    - 2025-10-04T10:05:00Z @executor-001: seen',
      );
    texts.set(`tasks/f${first / A_FILE}.task.md`, `${lines.join('\n')}\n`);
  }
  const index = new HomeIndex();
  for (const [path, text] of texts) index.set(path, factsOf(path, text));
  index.settle();
  const versions = new Map([...texts.keys()].map(path => [path, '0']));
  return {texts, index, versions, source: {index, files: () => versions, read: path => texts.get(path)}};
}

async function medianOf(work, least = RUNS) {
  const took = [];
  for (let i = 0; i < least; i++) {
    const start = performance.now();
    await work(i);
    took.push(performance.now() - start);
  }
  took.sort((a, b) => a - b);
  return {median: took[took.length >> 1], least: took[0]};
}

/** SQL over tasks: the first query, queries once indexed, a query after a change; how long others wait. */
export default async function tasksSql() {
  const rows = [];
  const homes = [];
  for (const count of [100, 10_000]) {
    const home = homeOf(count);
    const asked = new TaskQuery();
    const ask = async text => {
      const answer = await asked.ask(home.source, text, {most: MOST});
      if (answer.failed) throw new Error(answer.error);
      return answer;
    };
    let block = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      block = Math.max(block, performance.now() - last);
      last = performance.now();
    }, 1);
    const first = await medianOf(() => ask(queries[0][1]), 1);
    clearInterval(timer);
    homes.push({...home, ask, asked, count, first, block: {median: block, least: block}});
  }
  for (const [name, text] of queries) rows.push([name, ...(await each(homes, ({ask}) => medianOf(() => ask(text))))]);
  rows.push(['one file, after one task of it changed', ...(await each(homes, afterChange))]);
  for (const [name, , large] of rows) row(`SQL, ${name}`, {ours: large.median, goal: atMost(20, 'issue 7')});
  row('SQL, the first query: all is read', {ours: homes[1].first.median});
  rows.push(['the first query: all is read', ...homes.map(({first}) => first)]);
  rows.push(['others wait meanwhile, at most', ...homes.map(({block}) => block)]);
  const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n';
  const hostile = await each(homes, ({asked, source}) => medianOf(() => asked.ask(source, endless, {most: MOST}), 1));
  rows.push(['a query without an end, until it is ended', ...hostile]);
  rows.push(['the next query', ...(await each(homes, ({ask}) => medianOf(() => ask(queries[0][1]), 1)))]);
  table(
    'SQL over tasks in files of 100, ms: median, and the least of 30',
    ['', '100 tasks', 'least', '10,000 tasks', 'least', 'ratio of the least'],
    rows.map(([name, small, large]) => [
      name,
      small.median,
      small.least,
      large.median,
      large.least,
      times(large.least, small.least),
    ]),
  );
  for (const {asked} of homes) asked.close();
}

/** Only the query: what the daemon does about a change is in other suites. */
async function afterChange(home) {
  const took = [];
  for (let run = 0; run < RUNS; run++) {
    const path = 'tasks/f0.task.md';
    const text = home.texts.get(path).replace(/\[.\] (. @executor-001 #docker #n5)/, `[${run % 2 ? 'x' : '/'}] $1`);
    home.texts.set(path, text);
    home.versions.set(path, String(run + 1));
    home.index.set(path, factsOf(path, text));
    home.index.settle();
    const start = performance.now();
    await home.ask("SELECT id, state FROM tasks/f0.task.md WHERE priority = 'B'");
    took.push(performance.now() - start);
  }
  took.sort((a, b) => a - b);
  return {median: took[took.length >> 1], least: took[0]};
}

async function each(homes, work) {
  const results = [];
  for (const home of homes) results.push(await work(home));
  return results;
}
