import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {runsIn} from './checks/once.mjs';
import {findSecret} from './checks/secrets.mjs';
import {violate} from './ledger.mjs';
import {git, pause} from './run-command.mjs';

const EVERY_MS = 1_000;

/** Glance at the home again and again, until told to end. Gives how to. */
export function keepGlancing(world) {
  let over = false;
  const all = (async () => {
    while (!over) {
      await glance(world);
      await pause(EVERY_MS);
    }
  })();
  return () => {
    over = true;
    return all;
  };
}

/** All that must hold at any moment, whoever is at work: no command ran twice, requests are valid, no key is on disk, no commit is lost, no bad file is written. */
export async function glance(world) {
  const {ledger, mind} = world;
  try {
    ranOnce(world);
    for (const wrong of mind.server.violations) violate(ledger, 4, `an invalid request: ${wrong}`);
    spoiledFiles(world);
    await commits(world);
    await findSecret(world, world.home, ['--exclude-dir=.git', '--exclude-dir=*.git']);
    ledger.counts.glances++;
  } catch (error) {
    violate(ledger, 'soak', `glance failed: ${error.message}`, error.stack);
  }
}

/** 3: by the traces that commands leave. */
function ranOnce({home, ledger}) {
  const folder = join(home, 'workspaces');
  if (!existsSync(folder)) return;
  const workspaces = readdirSync(folder).flatMap(agent =>
    listed(join(folder, agent)).map(name => `workspaces/${agent}/${name}`),
  );
  const runs = runsIn({workspaces, text: path => readFileSync(join(home, path), 'utf8')});
  for (const [key, lines] of runs) if (lines.length > 1) violate(ledger, 3, `${key} ran ${lines.length} times`, lines);
}

function listed(folder) {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
    return [];
  }
}

/** 1: what has errors stays as it is until it is mended. */
function spoiledFiles({home, ledger}) {
  for (const [path, {bytes, way}] of ledger.spoiled) {
    const full = join(home, path);
    const now = existsSync(full) ? readFileSync(full) : Buffer.alloc(0);
    if (!now.equals(bytes)) violate(ledger, 1, `${path} was written although it has errors (${way})`, now.toString());
  }
}

/** 8: each commit that a daemon told of is in HEAD, unless the person takes some out just now, or has. */
async function commits({home, ledger}) {
  const told = [...ledger.committed];
  const before = ledger.rewriting;
  const {stdout, code} = await git(home, 'rev-list', 'HEAD');
  if (code !== 0 || before.under > 0 || ledger.rewriting !== before) return;
  const reachable = new Set(stdout.split('\n'));
  for (const [commit, subject] of told)
    if (!reachable.has(commit) && !ledger.rewritten.has(commit))
      violate(ledger, 8, `commit ${commit.slice(0, 10)} of the daemon is gone: ${subject}`);
}
