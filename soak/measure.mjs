import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {until} from './run-command.mjs';

/** How long one turn takes, ms: from a message saved to its answer in the file. The median of some. */
export async function probeTurn({home}, name, times = 7) {
  const took = [];
  for (let i = 0; i < times; i++) {
    const path = join(home, `sessions/probe-${name}-${i}.session.yaml`);
    const began = performance.now();
    writeFileSync(path, 'agent_id: a001\nmessages:\n  - role: user\n    content: how are you?\n');
    if (await until(() => readFileSync(path, 'utf8').includes('content: answer n'), 20_000, 2))
      took.push(performance.now() - began);
  }
  return took.sort((a, b) => a - b)[took.length >> 1];
}

/** MB a minute by least squares over the second half of a life: a heap grows at first, and goes on only if something leaks. */
function slope(samples) {
  const middle = (samples[0][0] + samples.at(-1)[0]) / 2;
  const points = samples.filter(([minute]) => minute > middle);
  if (points.length < 5) return undefined;
  const mean = nth => points.reduce((sum, point) => sum + point[nth], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const over = points.reduce((sum, [a, b]) => sum + (a - x) * (b - y), 0);
  const under = points.reduce((sum, [a]) => sum + (a - x) ** 2, 0);
  return under === 0 ? undefined : over / under;
}

/** Of the longest life. */
export function memory(lives) {
  const longest = lives.filter(({rss}) => rss.length > 0).sort((a, b) => b.rss.length - a.rss.length)[0];
  if (!longest) return {};
  const [first, last] = [longest.rss[0], longest.rss.at(-1)];
  return {
    seconds: Math.round((last[0] - first[0]) * 60),
    mb: Math.round(last[1]),
    slope: slope(longest.rss),
    most: Math.round(Math.max(...lives.flatMap(({rss}) => rss.map(([, mb]) => mb)))),
  };
}
