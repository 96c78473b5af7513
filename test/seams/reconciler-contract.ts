import {describe, expect, it} from 'vitest';
import {blocks} from '../../src/formats/common/diagnostic.ts';
import {kindOf} from '../../src/formats/common/key.ts';
import {type FileSnapshot, snapshotOfText} from '../../src/loop/file-snapshot.ts';
import type {PlannedWrite} from '../../src/loop/planned-write.ts';
import type {Creation, Reconciler, Settlement} from '../../src/loop/reconciler.ts';

/** A file that a reconciler is tried with. */
export interface Sample {
  path: string;
  text: string;
}

/** Neither kept nor compared: only the shape of a stat is needed. */
const stat = {ino: 1n, size: 1n, mtimeNs: 1n, ctimeNs: 1n, mode: 0o644n} as FileSnapshot['stat'];

export function seenAs({path, text}: Sample): FileSnapshot {
  const kind = kindOf(path);
  if (!kind) throw new Error(`${path} is no file of a home`);
  return snapshotOfText(path, kind, text, {bytes: Buffer.from(text), stat});
}

function isChange(settled: Settlement | Creation): settled is PlannedWrite {
  return settled !== undefined && 'text' in settled;
}

/** More writes than any file needs until it holds all that follows from it. */
const MOST_WRITES = 10;

/**
 * What the loop relies on, whatever the kind. `samples`: files that the reconciler owns, at least one of which it has something to write into.
 * `elsewhere`: a path of another kind, or of the same that it leaves to others.
 */
export function reconcilerContract(
  name: string,
  make: () => Reconciler,
  {samples, elsewhere}: {samples: readonly Sample[]; elsewhere: string},
): void {
  describe(`the contract of a reconciler: ${name}`, () => {
    it('owns the files of its kind that it says it owns, and no others', () => {
      const reconciler = make();
      const owns = (path: string) => kindOf(path) === reconciler.kind && (reconciler.owns?.(path) ?? true);
      for (const {path} of samples) expect(owns(path), path).toBe(true);
      expect(owns(elsewhere)).toBe(false);
    });

    it('settles each file after a few writes, and then leaves it alone', async () => {
      for (const sample of samples) {
        const reconciler = make();
        let file = seenAs(sample);
        let settled = await reconciler.settle?.(file);
        for (let writes = 0; isChange(settled); writes++) {
          expect(writes, `${sample.path} is written again and again`).toBeLessThan(MOST_WRITES);
          expect(settled.text).not.toBe(file.text);
          file = seenAs({path: sample.path, text: settled.text});
          settled.saved?.();
          settled.done?.();
          settled = await reconciler.settle?.(file);
        }
        expect(isChange(await reconciler.settle?.(file))).toBe(false);
      }
    });

    it('writes nothing with errors, and says for the journal what it did and why', async () => {
      let changes = 0;
      for (const sample of samples) {
        const settled = await make().settle?.(seenAs(sample));
        if (!isChange(settled)) continue;
        changes++;
        const {entry, earlier = []} = settled;
        for (const each of [entry, ...earlier.map(version => version.entry)]) {
          expect(each.words).toMatch(/\S/);
          expect(each.words).not.toContain('\n');
          expect(each.cause).toMatch(/^[\w-]+$/);
        }
        for (const text of [...earlier.map(version => version.text), settled.text])
          expect(blocks(seenAs({path: sample.path, text}).facts.problems), text).toBe(false);
      }
      if (make().settle) expect(changes, 'no sample that is written').toBeGreaterThan(0);
    });

    it('does not change the file that it is given', async () => {
      for (const sample of samples) {
        const file = seenAs(sample);
        await make().settle?.(file);
        expect(file.text).toBe(sample.text);
        expect(file.bytes.toString()).toBe(sample.text);
      }
    });

    it('creates only files that it owns, and that it settles itself', async () => {
      for (const {path} of samples) {
        const created = await make().create?.(path);
        if (!isChange(created)) continue;
        expect(blocks(seenAs({path, text: created.text}).facts.problems)).toBe(false);
      }
    });
  });
}
