import {existsSync, readdirSync, readFileSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {openItems} from './edits/approvals.mjs';
import {violate} from './ledger.mjs';
import {git, pause} from './run-command.mjs';

const LONGEST_MS = 150_000;
const STILL_MS = 1_200;

const filesIn = (home, folder) =>
  existsSync(join(home, folder))
    ? readdirSync(join(home, folder), {recursive: true, withFileTypes: true})
        .filter(entry => entry.isFile())
        .map(entry => join(entry.parentPath, entry.name))
    : [];

/** Wait until nobody has anything to do any more; what asks is decided meanwhile. What is left after long is a violation. */
export async function settle(world) {
  const {disk, daemon, ledger, mind, home, approvals} = world;
  disk.free();
  if (!(await daemon.ensure())) return violate(ledger, 'operation', 'the daemon does not start');
  const end = performance.now() + LONGEST_MS;
  let still = performance.now();
  let head = '';
  let left = '';
  for (;;) {
    if (!daemon.isUp()) return violate(ledger, 'operation', 'the daemon is gone while all was at rest');
    for (let n = 0; n < 5 && openItems(world).length > 0; n++) await approvals.decide();
    const now = performance.now();
    left = await unrest(world);
    const commit = (await git(home, 'rev-parse', 'HEAD')).stdout;
    if (left || commit !== head || mind.isAsked()) still = now;
    head = commit;
    if (now - still > STILL_MS) return tidy(world);
    if (now > end) return violate(ledger, 'operation', 'does not come to rest', left);
    await pause(150);
  }
}

/** What is under way, in words. */
async function unrest({home, mind, ledger}) {
  if (mind.isAsked()) return 'a model is asked';
  const active = filesIn(home, 'sessions').filter(
    path =>
      path.endsWith('.session.yaml') &&
      /^status: (?:active|waiting)$/m.test(readFileSync(path, 'utf8').slice(0, 20_000)),
  );
  if (active.length > 0) return `active: ${active.join(', ')}`;
  const waiting = openItems({home, ledger});
  if (waiting.length > 0) return `to be decided: ${waiting.map(({id, task}) => `${id} ${task.title}`).join(', ')}`;
  const undelivered = ledger.inbox.at(-1);
  if (undelivered && !(await git(home, 'grep', '-lF', `${undelivered.mark} line`, '--', 'sessions')).stdout)
    return `inbox line ${undelivered.mark}`;
  const {stdout} = await git(home, 'status', '--porcelain');
  return stdout
    .split('\n')
    .filter(line => line && !/^...?own\//.test(line))
    .join('\n');
}

/** What could not be merged is taken over and deleted, as NEEDS_YOU.md asks; so are lines that a full disk tore. */
async function tidy({home, ledger}) {
  for (const path of filesIn(home, 'conflicts')) {
    ledger.kept += `${readFileSync(path, 'utf8')}\n`;
    ledger.conflicts = (ledger.conflicts ?? 0) + 1;
    rmSync(path);
  }
  for (const path of filesIn(home, 'inbox/rejected')) {
    const text = readFileSync(path, 'utf8');
    const marks = text.match(/m\d{5}q/g) ?? [];
    if (marks.some(mark => !ledger.torn.includes(mark)))
      violate(ledger, 'deliveries', `a line was set aside: ${path}`, text);
    rmSync(path);
  }
  for (let n = 0; n < 100; n++) {
    const {stdout} = await git(home, 'status', '--porcelain', '--', 'conflicts');
    if (!stdout) return;
    await pause(100);
  }
}
