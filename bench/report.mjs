const short = value =>
  value >= 1000
    ? Math.round(value).toLocaleString('en-US')
    : value >= 100
      ? value.toFixed(0)
      : value >= 10
        ? value.toFixed(1)
        : value === 0
          ? '0'
          : value.toPrecision(2);
const figure = (value, unit) => (value === null ? 'no figure' : `${short(value)} ${unit}`.trim());

const keyOf = ({suite, name}) => `${suite}: ${name}`;

function goalOf({goal, unit}) {
  if (!goal) return '';
  const limit = goal.limit.toLocaleString('en-US', {maximumFractionDigits: 2});
  if (goal.what === 'ratio') return `${goal.is} ${limit}×`;
  return `${goal.is} ${limit} ${unit}${goal.what === 'difference' ? ' more' : ''}`.trimEnd();
}

/** What was measured, as a Markdown table whose columns stand under each other. */
export function tableOf(rows) {
  const head = ['suite', 'what', 'ours', 'against', 'ratio', 'goal', ''];
  const cells = rows.map(one => [
    one.suite,
    one.name,
    figure(one.ours, one.unit),
    one.baseline ? `${figure(one.baseline.value, '')}, ${one.baseline.name}` : '',
    typeof one.ratio === 'number' ? `${one.ratio.toFixed(2)}×` : '',
    goalOf(one),
    one.goal ? (one.met ? 'met' : 'MISS') : '',
  ]);
  const widths = head.map((_, i) => Math.max(...[head, ...cells].map(row => row[i].length)));
  const isNumber = i => i === 2 || i === 4;
  const line = row =>
    `| ${row.map((cell, i) => (isNumber(i) ? cell.padStart(widths[i]) : cell.padEnd(widths[i]))).join(' | ')} |`;
  const rule = widths.map((width, i) => (isNumber(i) ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)));
  return [line(head), line(rule), ...cells.map(line)].join('\n');
}

/**
 * Goals that are not met, each with what is written about it; reasons for what nobody measured any more, in suites that
 * ran whole; and what was skipped.
 */
export function summary(rows, reasons, {failed = [], quick = false} = {}) {
  const measured = rows.filter(one => !('skipped' in one));
  const skipped = rows.filter(one => 'skipped' in one);
  const missed = measured.filter(({met}) => met === false);
  const misses = missed.map(one => ({...one, ...reasons.find(({row}) => row === keyOf(one))}));
  const whole = new Set(quick ? [] : measured.map(({suite}) => suite));
  for (const {suite} of [...skipped, ...failed]) whole.delete(suite);
  const known = new Set(rows.map(keyOf));
  return {
    rows: measured,
    skipped,
    misses,
    unexplained: misses.filter(({reason, plan}) => !reason || !plan).map(keyOf),
    unknownReasons: reasons.map(({row}) => row).filter(row => whole.has(row.split(':')[0]) && !known.has(row)),
  };
}

/** `facts`: lines about the machine and the run. `failed`: suites that ended with an error. `quick`: they measured less. `busy`: what else the machine did, if much. */
export function report(rows, reasons, facts, {failed = [], quick = false, busy} = {}) {
  const found = summary(rows, reasons, {failed, quick});
  const goals = found.rows.filter(({goal}) => goal);
  const parts = [tableOf(found.rows), facts.map(fact => `- ${fact}`).join('\n')];
  const doubt =
    busy && found.misses.length > 0
      ? `**${busy}: goals in milliseconds say little. Run it again on a quiet machine.** `
      : '';
  parts.push(`## Misses\n\n${doubt}${missesOf(found, goals.length)}`);
  if (found.skipped.length > 0)
    parts.push(`## Not measured\n\n${found.skipped.map(one => `- ${keyOf(one)}: ${one.skipped}`).join('\n')}`);
  if (failed.length > 0)
    parts.push(`## FAILED SUITES\n\n${failed.map(({suite, why}) => `- **${suite}**: ${why}`).join('\n')}`);
  if (found.unknownReasons.length > 0)
    parts.push(
      `## Reasons without a row\n\nbench/misses.yaml has reasons for rows that are not measured: ${found.unknownReasons.join('; ')}. Correct the name, or remove them.`,
    );
  return `${parts.join('\n\n')}\n`;
}

function missesOf({misses, unexplained}, goals) {
  if (goals === 0) return 'No goal was measured.';
  if (misses.length === 0) return `None: all ${goals} goals are met.`;
  const lines = misses.map(one => {
    const written =
      one.reason && one.plan
        ? `${one.reason.trim()} Plan: ${one.plan.trim()}`
        : '**NO REASON IS WRITTEN: add reason and plan to bench/misses.yaml.**';
    return `- **${keyOf(one)}** (${figureOf(one)}; goal ${goalOf(one)}). ${written}`;
  });
  const loud =
    unexplained.length > 0 ? `\n\n**${unexplained.length} WITHOUT A WRITTEN REASON: ${unexplained.join('; ')}**` : '';
  return `${misses.length} of ${goals} goals are missed.\n\n${lines.join('\n')}${loud}`;
}

function figureOf({ours, unit, ratio, goal, baseline}) {
  if (goal.what === 'ratio') return typeof ratio === 'number' ? `${ratio.toFixed(2)}×` : 'no figure';
  if (goal.what === 'figure' || ours === null) return figure(ours, unit);
  return `${figure(ours - baseline.value, unit)} more`;
}
