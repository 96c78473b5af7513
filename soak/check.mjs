import {commands} from './checks/commands.mjs';
import {deliveries} from './checks/deliveries.mjs';
import {journal} from './checks/journal.mjs';
import {needsYou} from './checks/needs-you.mjs';
import {nothingLost} from './checks/nothing-lost.mjs';
import {onceOrAsk} from './checks/once.mjs';
import {replies} from './checks/replies.mjs';
import {secrets} from './checks/secrets.mjs';
import {readState} from './checks/state.mjs';
import {glance} from './glance.mjs';

/** All that can be said of a home at rest while its daemon runs. */
export async function checkAtRest(world, home = world.home) {
  const state = readState(home, world.ledger.kept);
  nothingLost(world, state);
  onceOrAsk(world, state);
  replies(world, state);
  world.delivered = deliveries(world, state);
  await journal(world, state, {whole: false});
  await needsYou(world, state);
  world.ledger.counts.checks++;
}

/** And what takes longer, or wants that no daemon runs. */
export async function checkAtEnd(world, home = world.home) {
  const state = readState(home, world.ledger.kept);
  nothingLost(world, state);
  onceOrAsk(world, state);
  replies(world, state);
  deliveries(world, state);
  await secrets(world, state);
  // Before a command may mend it, and after.
  await journal(world, state, {whole: true});
  await commands(world, state);
  await journal(world, state, {whole: false});
  world.ledger.counts.checks++;
}

/** Some of it, by name: for whoever broke just that. */
export async function checkPart(world, home, part) {
  if (part === 'glance') return glance({...world, home});
  const state = readState(home, world.ledger.kept);
  if (part === 'files') for (const check of [nothingLost, onceOrAsk, replies, deliveries]) check(world, state);
  if (part === 'journal') await journal(world, state, {whole: true});
  if (part === 'secrets') await secrets(world, state);
  if (part === 'commands') await commands(world, state);
  if (part === 'needs') await needsYou(world, state);
}
