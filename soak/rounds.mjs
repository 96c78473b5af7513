import {checkAtRest} from './check.mjs';
import {keepGlancing} from './glance.mjs';
import {violate} from './ledger.mjs';
import {pause, until} from './run-command.mjs';
import {settle} from './settle.mjs';

const ROUND_MS = 25_000;

/** Work for so long, in rounds: in every other one the daemon is killed again and again, unless it is calm. After each all is checked. */
export async function workInRounds(world, work) {
  const {options, disk, daemon, ledger} = world;
  const total = options.seconds * 1000;
  const rounds = Math.max(1, Math.round(total / ROUND_MS));
  for (world.round = 0; world.round < rounds; world.round++) {
    const end = performance.now() + total / rounds;
    const isOver = () => performance.now() > end;
    const kills = !options.calm && (rounds === 1 || world.round % 2 === 0);
    if (!kills) await daemon.ensure();
    const endGlances = keepGlancing(world);
    await Promise.all([
      guarded(world, 'work', () => work(isOver)),
      kills && guarded(world, 'kills', () => killAgainAndAgain(daemon, isOver)),
      disk.mounted && !options.calm && guarded(world, 'disk', () => fillAgainAndAgain(world, isOver)),
    ]);
    world.tell(`round ${world.round + 1} of ${rounds}: waiting for rest`);
    await settle(world);
    await endGlances();
    await checkAtRest(world);
    if (ledger.violations.length > 0 && !options.keep) break;
  }
}

/** What fails in the soak itself is told, and is no silent success. */
async function guarded({ledger}, name, what) {
  try {
    await what();
  } catch (error) {
    violate(ledger, 'soak', `${name} failed: ${error.message}`, error.stack);
  }
}

async function killAgainAndAgain(daemon, isOver) {
  if (daemon.isUp()) await daemon.end('kill');
  while (!isOver()) await daemon.liveOnce(isOver);
}

async function fillAgainAndAgain(world, isOver) {
  const {disk, random, ledger} = world;
  const own = random.fork(500 + world.round);
  while (!isOver()) {
    await until(isOver, own.between(4_000, 12_000), 100);
    if (isOver() || !(await until(() => disk.mayFill() || isOver(), 2_000, 1)) || isOver()) continue;
    if (!disk.fill(own.number(0, 6))) continue;
    ledger.counts.fullDisks++;
    await pause(own.between(500, 2_500));
    disk.free();
  }
}
