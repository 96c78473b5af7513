// npm run bench [-- NAME… --quick --doc --out DIR --strict]: runs suites and tells what they measured in one table.
import {spawn} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {loadavg, tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {parse} from 'yaml';
import {intoDoc} from './doc.mjs';
import {isQuiet, machine} from './machine.mjs';
import {report, summary} from './report.mjs';
import {suites} from './suites.mjs';

const HELP = `npm run bench -- [NAME…] [options]
  --quick     fewer rounds, smaller homes: for a look, not for figures to quote
  --out DIR   where latest.md and latest.json go (bench/results)
  --doc       also put the table into docs/benchmarks.md (all suites, whole)
  --strict    end with 1 if a miss has no written reason in bench/misses.yaml
Suites: ${Object.keys(suites).join(' ')}`;

const here = name => fileURLToPath(new URL(name, import.meta.url));
// Node reads these certificates at every start, which takes some 45 ms and is no part of what is measured.
const {NODE_EXTRA_CA_CERTS: _, ...environment} = process.env;

const suite = process.env.AGENTDIR_BENCH_SUITE;
if (suite) await (await suites[suite].load()).default();
else process.exitCode = await main();

async function main() {
  const options = optionsOf();
  if (typeof options === 'string') {
    console.error(options);
    return options === HELP ? 0 : 64;
  }
  const {names, quick, out, doc, strict} = options;
  const facts = machine();
  const secondsOf = name => suites[name].seconds[quick ? 1 : 0];
  const total = names.reduce((sum, name) => sum + secondsOf(name), 0);
  console.error(
    `${names.length} suites, about ${minutes(total)} on a quiet machine; load now ${facts.loadAtStart.join(' ')} on ${facts.cores} cores${isQuiet(facts) ? '' : ': NOT quiet, ratios say more than figures'}`,
  );
  const folder = mkdtempSync(join(tmpdir(), 'agentdir-bench-rows-'));
  const path = join(folder, 'rows.jsonl');
  writeFileSync(path, '');
  const failed = [];
  const began = performance.now();
  let left = total;
  for (const [i, name] of names.entries()) {
    console.error(`\n[${i + 1}/${names.length}] ${name}, about ${secondsOf(name)} s; ${minutes(left)} left`);
    const why = await runSuite(name, {
      path,
      quick,
      mostSeconds: 120 + 8 * secondsOf(name) + (suites[name].installs ?? 0),
    });
    if (why !== undefined) failed.push({suite: name, why});
    left -= secondsOf(name);
  }
  const rows = readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line));
  rmSync(folder, {recursive: true, force: true});
  const reasons = parse(readFileSync(here('misses.yaml'), 'utf8')) ?? [];
  const took = (performance.now() - began) / 1000;
  const run = {
    ...facts,
    quick,
    suites: names,
    seconds: Math.round(took),
    loadAtEnd: loadavg().map(load => Number(load.toFixed(1))),
  };
  const text = report(rows, reasons, factLines(run), {
    failed,
    quick,
    busy: isQuiet(run) ? undefined : `The load was ${run.loadAtStart[0]} to ${run.loadAtEnd[0]} on ${run.cores} cores`,
  });
  const {rows: _measured, ...rest} = summary(rows, reasons, {failed, quick});
  console.log(`\n${text}`);
  mkdirSync(out, {recursive: true});
  writeFileSync(join(out, 'latest.md'), `# Benchmarks\n\n${text}`);
  writeFileSync(join(out, 'latest.json'), `${JSON.stringify({run, rows, failed, ...rest}, null, 2)}\n`);
  console.error(`written: ${join(out, 'latest.md')} and latest.json`);
  if (doc) intoDoc(here('../docs/benchmarks.md'), text);
  return failed.length > 0 || (strict && rest.unexplained.length > 0) ? 1 : 0;
}

/** Or what is wrong with them. */
function optionsOf() {
  let parsed;
  try {
    parsed = parseArgs({
      allowPositionals: true,
      options: {
        quick: {type: 'boolean', default: false},
        out: {type: 'string', default: here('results')},
        doc: {type: 'boolean', default: false},
        strict: {type: 'boolean', default: false},
        help: {type: 'boolean', default: false},
      },
    });
  } catch (error) {
    return `${error.message}\n\n${HELP}`;
  }
  const {values, positionals} = parsed;
  if (values.help) return HELP;
  const unknown = positionals.filter(name => !Object.hasOwn(suites, name));
  if (unknown.length > 0) return `no suite ${unknown.join(', ')}\n\n${HELP}`;
  if (values.doc && positionals.length > 0)
    return `--doc is for a run of all suites: the table in docs/benchmarks.md is of one run\n\n${HELP}`;
  return {...values, names: positionals.length > 0 ? positionals : Object.keys(suites)};
}

/**
 * Each suite in a process of its own: what one leaves in memory must not slow the next. With a group of its own, so that what it
 * started ends with it when it takes too long. Why it failed, if it did.
 */
function runSuite(name, {path, quick, mostSeconds}) {
  return new Promise(resolve => {
    const child = spawn(process.execPath, ['--expose-gc', here('run.mjs')], {
      stdio: ['ignore', 'inherit', 'inherit'],
      detached: true,
      env: {
        ...environment,
        AGENTDIR_BENCH_SUITE: name,
        AGENTDIR_BENCH_ROWS: path,
        ...(quick && {AGENTDIR_BENCH_QUICK: '1'}),
      },
    });
    let late = false;
    const end = () => {
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
    };
    const timer = setTimeout(() => {
      late = true;
      end();
    }, mostSeconds * 1000);
    const interrupted = () => {
      end();
      process.exit(130);
    };
    process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
      if (late) resolve(`ended after ${minutes(mostSeconds)}`);
      else resolve(code === 0 ? undefined : `ended with ${code ?? signal}`);
    });
  });
}

function minutes(seconds) {
  return seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}

function factLines(run) {
  return [
    `\`npm run bench${run.quick ? ' -- --quick' : ''}\`, ${run.suites.length} suites, ${minutes(run.seconds)}, ${run.date.slice(0, 10)}, commit ${run.commit}`,
    `${run.cores} cores (${run.cpu}), ${run.memoryGB} GB, Node ${run.node}, git ${run.git}, bubblewrap ${run.bubblewrap}, ripgrep ${run.ripgrep}`,
    `load at start ${run.loadAtStart.join(' ')}, at end ${run.loadAtEnd.join(' ')}${isQuiet(run) ? '' : ': **a shared, busy machine; ratios say more than figures**'}`,
  ];
}
