import {readFileSync} from 'node:fs';
import {parse} from 'unbash';
import {judge, parseAllowlist} from '../dist/index.js';
import {rounds, table, times} from './measure.mjs';
import {atMost, row as tell} from './row.mjs';

/** What agents run all day, beside the tests of the shipped policy. */
const usual = [
  'ls',
  'ls -la src',
  'cat package.json',
  'head -50 README.md',
  'grep -rn "TODO" src --include="*.ts"',
  'rg -n "function judge" src',
  "find . -name '*.test.ts' -not -path './node_modules/*'",
  'git status --short',
  'git log --oneline -20 -- src/policy',
  'git diff HEAD~1 --stat',
  'git add -A && git commit -m "fix: a tab counts up to the next column" && git push origin main',
  'npm run build && npm test',
  'npx vitest run test/policy',
  'cat a.txt | sort | uniq -c | sort -rn | head -10',
  'docker ps --filter "name=redis" --format "{{.Status}}"',
  'docker exec -it redis redis-cli ping',
  'curl -s https://example.com/api | jq ".items[] | .name"',
  "python3 -c 'import sys; print(sys.version)'",
  'sed -n "1,80p" src/main.ts',
  "awk '{print $1}' access.log | sort | uniq -c",
  'for f in *.ts; do wc -l "$f"; done',
  'cd src && ls; pwd',
  'mkdir -p build && cp -r src build/',
  'rm -rf node_modules && npm ci',
  'timeout 60 env NODE_ENV=test node --test',
  'bash -lc "cd /work && make test 2>&1 | tail -20"',
];

/** The verdict on a line: what it costs beside the parser alone. */
export default function policy() {
  const {policy} = parseAllowlist(readFileSync(new URL('../allowlist.yaml', import.meta.url), 'utf8'));
  const lines = [...usual, ...policy.tests.map(test => test.run)];
  const start = performance.now();
  judge(lines[1], policy);
  const cold = performance.now() - start;
  const bare = each(lines, line => parse(line));
  const ours = each(lines, line => judge(line, policy));
  const baseline = {name: 'unbash alone', value: bare.middle};
  tell('a verdict on a command', {ours: ours.middle, unit: 'µs', baseline, goal: atMost(100, 'issue 5')});
  tell('a verdict on a command, 99 of 100', {ours: ours.late, unit: 'µs', baseline: {...baseline, value: bare.late}});
  const row = (name, {middle, late}) => [name, middle, late, times(middle, bare.middle)];
  table(
    `policy: a verdict, ${lines.length} lines, ${policy.rules.length} rules`,
    ['', 'median, µs', '99 of 100 below, µs', 'ratio'],
    [row('unbash alone', bare), row('judge', ours), ['judge, the first in a process', cold * 1000, '', '']],
  );
}

function each(lines, work) {
  const taken = [];
  for (let round = 0; round < rounds(400, 160); round++) {
    for (const line of lines) {
      const start = performance.now();
      work(line);
      if (round >= 100) taken.push((performance.now() - start) * 1000);
    }
  }
  taken.sort((a, b) => a - b);
  return {middle: taken[taken.length >> 1], late: taken[Math.floor(taken.length * 0.99)]};
}
