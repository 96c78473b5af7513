import {createHash} from 'node:crypto';
import {mkdirSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {readText, save} from './editors.mjs';
import {git, pause} from './run-command.mjs';

/** A buffer is saved again so much later at most. */
const OLDEST_MS = 15_000;

/**
 * People's hands on files: each file in one editor at a time, which may still show what was saved or read seconds ago. They know
 * nothing of daemons.
 */
export function openHands(world, random) {
  const {home, disk, ledger} = world;
  const {counts} = ledger;
  const buffers = new Map();
  const busy = new Set();
  const savedAt = new Map();
  const tools = {disk, random, pause, counts};

  /**
   * Who saves an old buffer over a save of their own that no daemon saw has lost that by themselves: editors warn of it. That
   * the file was committed since does not say so: what the daemon had written before waited for the journal, perhaps.
   */
  const isKnown = async (path, {text}) => {
    if ((ledger.committedAt.get(path) ?? 0) <= (savedAt.get(path) ?? 0)) return false;
    const bytes = Buffer.from(text);
    const blob = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
    return (await git(home, 'cat-file', '-e', blob)).code === 0;
  };

  /** What to change may not be there: then nothing is saved. */
  async function change(path, how, {fresh = false, make = false} = {}) {
    if (busy.has(path)) return false;
    busy.add(path);
    try {
      const full = join(home, path);
      const buffer = buffers.get(path);
      const old = fresh || random.chance(0.3) || !buffer || !(await isKnown(path, buffer)) ? undefined : buffer;
      const stale = old && performance.now() - old.at < OLDEST_MS ? how(old.text) : undefined;
      let text = stale;
      let before = old?.text;
      if (text === undefined) {
        before = readText(full);
        if (before === undefined && !make) return false;
        if (random.chance(0.4)) await pause(random.between(0, 60));
        text = how(before ?? '');
      }
      if (text === undefined || text === before) return false;
      if (stale !== undefined) counts.staleSaves++;
      mkdirSync(dirname(full), {recursive: true});
      await save(tools, full, text, stale === undefined ? before : undefined);
      savedAt.set(path, performance.now());
      buffers.set(path, {text, at: performance.now()});
      return true;
    } finally {
      busy.delete(path);
    }
  }

  /** For what takes longer than one save. Undefined if somebody has it open. */
  async function alone(path, work) {
    if (busy.has(path)) return undefined;
    busy.add(path);
    buffers.delete(path);
    try {
      return await work(join(home, path));
    } finally {
      busy.delete(path);
    }
  }

  return {change, alone, tools, forget: () => buffers.clear()};
}
