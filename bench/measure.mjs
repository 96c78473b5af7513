/** The median time of `work` in milliseconds, after a warm-up, over at least `least` runs and about `ms` milliseconds. */
export function median(work, {least = 5, most = 200, ms = 600} = {}) {
  work();
  const times = [];
  const end = performance.now() + rounds(ms, ms / 4);
  const fewest = rounds(least, Math.min(least, 3));
  while (times.length < fewest || (times.length < most && performance.now() < end)) {
    const start = performance.now();
    work();
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  return times[times.length >> 1];
}

/** The medians of several, taken in turns, so that what else the machine does falls on all. By name. */
export function mediansInTurns(works, {least = 5, most = 200, ms = 1200} = {}) {
  const all = Object.entries(works).map(([name, work]) => ({name, work, times: []}));
  for (const {work} of all) work();
  const end = performance.now() + rounds(ms, ms / 4);
  const fewest = rounds(least, Math.min(least, 3));
  for (let i = 0; i < fewest || (i < most && performance.now() < end); i++)
    for (const {work, times} of all) {
      const start = performance.now();
      work();
      times.push(performance.now() - start);
    }
  return Object.fromEntries(all.map(({name, times}) => [name, times.sort((a, b) => a - b)[times.length >> 1]]));
}

export function table(title, head, rows) {
  const cells = [head, ...rows.map(row => row.map(cell => (typeof cell === 'number' ? short(cell) : cell)))];
  const widths = head.map((_, i) => Math.max(...cells.map(row => String(row[i]).length)));
  const line = row =>
    `| ${row.map((cell, i) => (i === 0 ? String(cell).padEnd(widths[i]) : String(cell).padStart(widths[i]))).join(' | ')} |`;
  console.log(
    `\n${title}\n${line(cells[0])}\n|${widths.map(width => '-'.repeat(width + 2)).join('|')}|\n${cells.slice(1).map(line).join('\n')}`,
  );
}

function short(value) {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toPrecision(2);
}

export const times = (a, b) => `${(a / b).toFixed(2)}×`;

/** Rounds of a whole run, or of one with --quick. */
export const rounds = (whole, quick) => (process.env.AGENTDIR_BENCH_QUICK ? quick : whole);
