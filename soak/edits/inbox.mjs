import {closeSync, existsSync, openSync, renameSync, writeSync} from 'node:fs';
import {join} from 'node:path';
import {agentName} from '../home.mjs';
import {pause} from '../run-command.mjs';

const FILES = 3;

/** Programs that append lines to inboxes, and logrotate. */
export function inboxEdits(world) {
  const {random, ledger, home} = world;
  const nameOf = i => `soak-${i}.jsonl`;

  /** `echo … >> file`, for an agent of the file's own. A full disk may tear the line: then it is written once more, below. */
  async function echo() {
    const i = random.number(0, FILES);
    const mark = ledger.mark();
    const order = random.chance(0.2) ? ` [soak ${mark} look]` : '';
    const line = `${JSON.stringify({text: `${mark} line${order}`, from: 'boss', to: agentName(i)})}\n`;
    for (let again = ''; ; ) {
      const bytes = Buffer.from(again + line);
      const fd = openSync(join(home, 'inbox', nameOf(i)), 'a');
      let written = 0;
      try {
        written = writeSync(fd, bytes);
      } catch (error) {
        if (error.code !== 'ENOSPC') throw error;
      } finally {
        closeSync(fd);
      }
      if (written === bytes.length) break;
      if (written > again.length) {
        // What came of it is no line; if all but the newline did, it is one already.
        if (written === bytes.length - 1) {
          again = '';
          await finish(i);
          break;
        }
        ledger.torn.push(mark);
        again = '\n';
      }
      await pause(100);
    }
    ledger.inbox.push({mark, file: nameOf(i), agent: agentName(i)});
    ledger.counts.inboxLines++;
  }

  async function finish(i) {
    for (;;) {
      const fd = openSync(join(home, 'inbox', nameOf(i)), 'a');
      try {
        writeSync(fd, '\n');
        return;
      } catch (error) {
        if (error.code !== 'ENOSPC') throw error;
      } finally {
        closeSync(fd);
      }
      await pause(100);
    }
  }

  /** .2 → .3, .1 → .2, the file → .1; nothing is removed. */
  function rotate() {
    const name = nameOf(random.number(0, FILES));
    const path = join(home, 'inbox', name);
    if (!existsSync(path)) return;
    let last = 1;
    while (existsSync(`${path}.${last}`)) last++;
    for (let n = last; n > 1; n--) renameSync(`${path}.${n - 1}`, `${path}.${n}`);
    renameSync(path, `${path}.1`);
    ledger.counts.rotations++;
  }

  return {echo, rotate};
}
