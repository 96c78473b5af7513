import {execFileSync, spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync, statfsSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const ROOM = '4g';
const PAGE = 4096;

/** A disk of its own for the home, where this user may mount one: it can be full, and have room again. */
export function openDisk() {
  const folder = mkdtempSync(join(tmpdir(), 'agentdir-soak-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${ROOM}`, 'tmpfs', folder]).status === 0;
  const resize = size => spawnSync('mount', ['-o', `remount,size=${size}`, folder]).status === 0;
  const used = () => {
    const {blocks, bfree, bsize} = statfsSync(folder);
    return (blocks - bfree) * bsize;
  };
  let full = false;
  let truncating = 0;
  return {
    folder,
    mounted,
    isFull: () => full,
    /** Nobody's file may be empty just now: that a full disk then keeps it so is a loss of the editor's making. */
    whileEmpty: async save => {
      truncating++;
      try {
        return await save();
      } finally {
        truncating--;
      }
    },
    mayFill: () => mounted && truncating === 0,
    /** Some pages may be left: what needs more than those finds the disk full. */
    fill: pages => {
      full = resize(used() + pages * PAGE);
      return full;
    },
    free: () => {
      if (mounted) resize(ROOM);
      full = false;
    },
    close: remove => {
      if (mounted && remove) spawnSync('umount', ['--lazy', folder]);
      if (remove) rmSync(folder, {recursive: true, force: true});
    },
    size: path => Number(execFileSync('du', ['-sk', path], {encoding: 'utf8'}).split('\t')[0]) * 1024,
  };
}
