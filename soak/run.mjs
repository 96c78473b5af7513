// npm run soak: a home with many agents, at work among people, crashes, full disks and bad files. See docs/soak.md.
import {randomBytes} from 'node:crypto';
import {join} from 'node:path';
import {checkAtEnd} from './check.mjs';
import {keepDaemon} from './daemon.mjs';
import {openDisk} from './disk.mjs';
import {makeHome} from './home.mjs';
import {openLedger, violate} from './ledger.mjs';
import {memory, probeTurn} from './measure.mjs';
import {startMind} from './mind.mjs';
import {readOptions} from './options.mjs';
import {chances} from './random.mjs';
import {report} from './report.mjs';
import {workInRounds} from './rounds.mjs';
import {git} from './run-command.mjs';
import {sabotage} from './sabotage.mjs';
import {settle} from './settle.mjs';
import {employ} from './work.mjs';

const options = readOptions();
const disk = openDisk();
const world = {
  options,
  disk,
  home: join(disk.folder, 'home'),
  random: chances(options.seed),
  ledger: openLedger(),
  round: 0,
  secret: `sk-soak${randomBytes(20).toString('hex')}`,
  began: performance.now(),
};
const {ledger, home} = world;
world.tell = words => {
  if (!process.stderr.isTTY) return;
  const {turns, edits, kills, crashes, fullDisks} = ledger.counts;
  const seconds = Math.round((performance.now() - world.began) / 1000);
  const line = `${seconds} s  ${turns} turns  ${edits} edits  ${kills + crashes} kills  ${fullDisks} full disks  ${ledger.violations.length} violations  ${words}`;
  process.stderr.write(`\r\u001b[K${line.slice(0, (process.stderr.columns || 100) - 1)}`);
};
world.isCommitted = async (path, words) => (await git(home, 'show', `HEAD:${path}`)).stdout.includes(words);

let ended = false;
async function close(remove) {
  if (ended) return;
  ended = true;
  clearInterval(world.timer);
  disk.free();
  await world.daemon?.end('kill');
  await world.mind?.server.close();
  disk.close(remove);
}
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => close(!options.keep).then(() => process.exit(130)));

try {
  world.mind = await startMind(world);
  world.modelEnv = {OPENAI_BASE_URL: world.mind.url, OPENAI_MODEL: 'fake-1', OPENAI_API_KEY: world.secret};
  await makeHome(world);
  world.daemon = keepDaemon(world);
  const work = employ(world);
  world.timer = setInterval(() => {
    world.daemon.sample();
    world.tell('');
  }, 500);
  await world.daemon.ensure();
  const before = await probeTurn(world, 'before');
  const sizes = {before: sizesOf()};
  await workInRounds(world, work);
  const after = await probeTurn(world, 'after');
  await settle(world);
  await world.daemon.end('stop');
  sizes.after = sizesOf();
  await checkAtEnd(world);
  world.cost = {before, after};
  if (after > 5 * before && after - before > 300)
    violate(ledger, 10, `a turn took ${before} ms, and ${after} in the end`);
  world.broken = options.sabotage ? await sabotage(world) : undefined;
  if (ledger.violations.length === 0) await git(home, 'gc', '--quiet', '--prune=now');
  sizes.gc = sizesOf();
  world.sizes = sizes;
  world.memory = memory(world.daemon.lives);
} catch (error) {
  violate(ledger, 'soak', `failed: ${error.message}`, error.stack);
}
if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
const bad = ledger.violations.length > 0 || (world.broken ?? []).some(({seen}) => seen === false);
const keep = bad || options.keep;
report(world, keep);
await close(!keep);
process.exit(bad ? 1 : 0);

function sizesOf() {
  const all = disk.size(home);
  const journal = disk.size(join(home, '.git'));
  return {git: journal, files: all - journal};
}
