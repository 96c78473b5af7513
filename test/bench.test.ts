import {execFileSync} from 'node:child_process';
import {existsSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, expect, it} from 'vitest';
import {parse} from 'yaml';
import {intoDoc} from '../bench/doc.mjs';
import {type Reason, report, summary, tableOf} from '../bench/report.mjs';
import {type Figure, type Goal, judged, type Row} from '../bench/row.mjs';
import {suites} from '../bench/suites.mjs';
import {temporary} from './cli/run.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const bench = join(root, 'bench');

const most = (what: Goal['what'], limit: number): Goal => ({what, is: '≤', limit, from: 'issue 0'});
const figure = (name: string, ours: number, more: Partial<Figure> = {}): Figure =>
  judged({suite: 'fake', name, ours, unit: 'ms', ...more});
const baseline = {name: 'the least', value: 10};

describe('the table of npm run bench', () => {
  it('judges a figure, its ratio and its difference, and takes no figure for a miss', () => {
    const met = (ours: number, goal: Goal) => figure('x', ours, {baseline, goal}).met;
    expect([met(49, most('figure', 50)), met(51, most('figure', 50))]).toEqual([true, false]);
    expect([met(30, most('ratio', 3)), met(31, most('ratio', 3))]).toEqual([true, false]);
    expect([met(40, most('difference', 30)), met(41, most('difference', 30))]).toEqual([true, false]);
    const least: Goal = {what: 'ratio', is: '≥', limit: 0.7, from: 'issue 0'};
    expect([met(7, least), met(6.9, least)]).toEqual([true, false]);
    expect(figure('x', Number.NaN, {goal: most('figure', 50)})).toMatchObject({ours: null, met: false});
    expect(figure('x', 1).met).toBeUndefined();
  });

  it('shows figure, baseline, ratio, goal and outcome in columns of one width', () => {
    const lines = tableOf([
      figure('slow', 40, {baseline, goal: most('ratio', 3)}),
      figure('quick', 1.25, {goal: most('figure', 50)}),
      figure('without a goal', 12_345, {unit: 'lines/s'}),
    ]).split('\n');
    expect(new Set(lines.map(line => line.length)).size).toBe(1);
    const cells = lines.map(line => line.split('|').map(cell => cell.trim()));
    expect(cells[2]).toEqual(['', 'fake', 'slow', '40.0 ms', '10.0, the least', '4.00×', '≤ 3×', 'MISS', '']);
    expect(cells[3]).toEqual(['', 'fake', 'quick', '1.3 ms', '', '', '≤ 50 ms', 'met', '']);
    expect(cells[4]).toEqual(['', 'fake', 'without a goal', '12,345 lines/s', '', '', '', '', '']);
  });

  it('says a miss with its reason and plan, and one without loudly', () => {
    const rows: Row[] = [
      figure('known', 60, {goal: most('figure', 50)}),
      figure('unknown', 70, {goal: most('figure', 50)}),
      figure('fine', 20, {goal: most('figure', 50)}),
      {suite: 'other', name: 'peer', skipped: 'it is not installed'},
    ];
    const reasons: Reason[] = [
      {row: 'fake: known', reason: 'Disks are slow.', plan: 'Wait.'},
      {row: 'fake: renamed', reason: 'It was so.', plan: 'None.'},
      {row: 'not-run: x', reason: 'Its suite did not run.', plan: 'None.'},
      {row: 'other: y', reason: 'Some of its suite was skipped.', plan: 'None.'},
    ];
    const found = summary(rows, reasons);
    expect(found.misses.map(({name}) => name)).toEqual(['known', 'unknown']);
    expect(found.unexplained).toEqual(['fake: unknown']);
    expect(found.unknownReasons).toEqual(['fake: renamed']);
    // A quick run leaves rows out, and so does a suite that failed.
    expect(summary(rows, reasons, {quick: true}).unknownReasons).toEqual([]);
    expect(summary(rows, reasons, {failed: [{suite: 'fake', why: 'ended with 1'}]}).unknownReasons).toEqual([]);
    expect(report(rows, reasons, [], {quick: true})).not.toContain('fake: renamed');
    const text = report(rows, reasons, ['2 cores'], {
      failed: [{suite: 'broken', why: 'ended with 1'}],
      busy: 'The load was 30',
    });
    expect(text).toContain('**The load was 30: goals in milliseconds say little.');
    expect(text).toContain('2 of 3 goals are missed');
    expect(text).toContain('- **fake: known** (60.0 ms; goal ≤ 50 ms). Disks are slow. Plan: Wait.');
    expect(text).toContain('**fake: unknown** (70.0 ms; goal ≤ 50 ms). **NO REASON IS WRITTEN');
    expect(text).toContain('1 WITHOUT A WRITTEN REASON: fake: unknown');
    expect(text).toContain('other: peer: it is not installed');
    expect(text).toContain('**broken**: ended with 1');
    expect(text).toContain('fake: renamed');
  });

  it('goes between the marks of a page, and nowhere else', () => {
    const page = join(temporary(), 'page.md');
    const marks = readFileSync(join(root, 'docs/benchmarks.md'), 'utf8').match(/<!-- bench.*-->/g) ?? [];
    writeFileSync(page, `# Before\n${marks[0]}\nold\n${marks[1]}\n\nafter  |  it\n`);
    intoDoc(page, 'new\n\n## Misses\n');
    intoDoc(page, '| a   |\n\n## Misses\n');
    expect(readFileSync(page, 'utf8')).toBe(
      `# Before\n${marks[0]}\n| a |\n\n### Misses\n${marks[1]}\n\nafter  |  it\n`,
    );
  });
});

describe('npm run bench', () => {
  it('each can be loaded: what it measures is still there', () => {
    const line =
      "const {suites} = await import('./bench/suites.mjs'); for (const {load} of Object.values(suites)) await load()";
    execFileSync(process.execPath, ['--input-type=module', '-e', line], {cwd: root, stdio: 'pipe'});
  });

  it('has every suite in its table, each with what to run', () => {
    const isSuite = (file: string) => /^export default /m.test(readFileSync(join(bench, file), 'utf8'));
    const files = readdirSync(bench).filter(file => file.endsWith('.mjs') && isSuite(file));
    const text = readFileSync(join(bench, 'suites.mjs'), 'utf8');
    const loaded = [...text.matchAll(/import\('\.\/(.+?)'\)/g)].map(([, file = '']) => file);
    expect(loaded).toHaveLength(Object.keys(suites).length);
    expect(loaded.toSorted()).toEqual(files.toSorted());
    for (const file of files) expect(readFileSync(join(bench, file), 'utf8'), file).toContain("from './row.mjs'");
  });

  it('bounds its time: 5 and a half minutes with --quick', () => {
    const seconds = Object.values(suites).map(suite => suite.seconds);
    expect(seconds.reduce((sum, [, quick]) => sum + quick, 0)).toBeLessThanOrEqual(330);
  });

  it('has reason and plan for each row of misses.yaml', () => {
    for (const entry of (parse(readFileSync(join(bench, 'misses.yaml'), 'utf8')) as Partial<Reason>[] | null) ?? []) {
      expect(Object.keys(suites)).toContain(entry.row?.split(':')[0]);
      expect(entry.reason?.trim(), entry.row).toBeTruthy();
      expect(entry.plan?.trim(), entry.row).toBeTruthy();
    }
  });

  it('names an unknown suite, and ends with 64', () => {
    try {
      execFileSync(process.execPath, [join(bench, 'run.mjs'), 'no-such'], {encoding: 'utf8', stdio: 'pipe'});
      expect.unreachable();
    } catch (error) {
      const {status, stderr} = error as {status: number; stderr: string};
      expect(status).toBe(64);
      expect(stderr).toContain('no suite no-such');
    }
  });

  it('runs a suite and writes the table as Markdown and JSON', () => {
    const out = temporary();
    execFileSync(process.execPath, [join(bench, 'run.mjs'), '--quick', '--out', out, 'policy'], {stdio: 'pipe'});
    const {run, rows} = JSON.parse(readFileSync(join(out, 'latest.json'), 'utf8')) as {run: object; rows: Figure[]};
    expect(run).toMatchObject({node: process.version, quick: true, suites: ['policy']});
    expect(rows.find(({name}) => name === 'a verdict on a command')).toMatchObject({
      suite: 'policy',
      unit: 'µs',
      ours: expect.any(Number),
      goal: {what: 'figure', limit: 100},
    });
    expect(readFileSync(join(out, 'latest.md'), 'utf8')).toContain('| policy | a verdict on a command');
  });

  it('keeps its peers out of the product', () => {
    const read = (path: string) => readFileSync(join(root, path), 'utf8');
    const {devDependencies} = JSON.parse(read('bench/peers/package.json')) as {devDependencies: object};
    expect(read('bench/peers/package-lock.json')).not.toContain('"resolved"');
    for (const name of ['@langchain/langgraph', '@openai/agents']) {
      expect(devDependencies).toHaveProperty(name);
      expect(read('package.json')).not.toContain(name);
    }
    expect(existsSync(join(bench, 'peers/.npmrc'))).toBe(true);
  });
});
