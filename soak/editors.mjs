// The ways in which programs save a file, as seen by whoever watches it. Each leaves the whole text, or throws.
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  existsSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import {basename, dirname, join} from 'node:path';

const beside = (path, name) => join(dirname(path), name);

/** Moved away, written anew, the backup removed. Vim puts the backup back if it cannot write. */
async function vim(path, text, wait) {
  const backup = `${path}~`;
  if (existsSync(path)) renameSync(path, backup);
  try {
    await wait();
    writeFileSync(path, text);
  } catch (error) {
    if (existsSync(backup)) renameSync(backup, path);
    throw error;
  }
  rmSync(backup, {force: true});
}

/** Cut to nothing, then written in pieces: nano, VS Code. */
async function inPlace(path, text, wait) {
  const fd = openSync(path, existsSync(path) ? 'r+' : 'w');
  try {
    ftruncateSync(fd);
    await wait();
    const bytes = Buffer.from(text);
    const pieces = Math.min(3, bytes.length);
    for (let i = 0; i < pieces; i++) {
      const [from, to] = [i, i + 1].map(n => Math.floor((bytes.length * n) / pieces));
      let at = from;
      while (at < to) at += writeSync(fd, bytes, at, to - at, at);
      await wait();
    }
  } finally {
    closeSync(fd);
  }
}

/** An autosave file, a backup copy, a new file in its place. */
async function emacs(path, text, wait) {
  const name = basename(path);
  const [auto, made] = [beside(path, `#${name}#`), beside(path, `.#${name}.new`)];
  try {
    writeFileSync(auto, text);
    if (existsSync(path)) copyFileSync(path, `${path}~`);
    await wait();
    writeFileSync(made, text);
    renameSync(made, path);
  } finally {
    for (const left of [auto, made, `${path}~`]) rmSync(left, {force: true});
  }
}

/** `sed -i`: another file beside it takes its name. */
function sed(path, text) {
  const made = beside(path, `sed${String(process.hrtime.bigint()).slice(-6)}`);
  try {
    writeFileSync(made, text);
    renameSync(made, path);
  } finally {
    rmSync(made, {force: true});
  }
}

/** `>>`, which knows nothing of what is there already. */
function append(path, text, _wait, before) {
  appendFileSync(path, text.slice(before.length));
}

const editors = {vim, inPlace, emacs, sed, append};

/**
 * Save `text`, which was made from `before`, by some editor. A full disk is waited out, as somebody does who does not
 * close their editor until it has saved.
 */
export async function save({disk, random, pause, counts}, path, text, before) {
  const adds = before !== undefined && text.startsWith(before) && text.length > before.length;
  for (;;) {
    const roomy = !disk.isFull();
    const name = random.weighted([
      [3, 'vim'],
      [roomy ? 3 : 0, 'inPlace'],
      [2, 'emacs'],
      [2, 'sed'],
      [adds && roomy && before.endsWith('\n') ? 3 : 0, 'append'],
    ]);
    const wait = () => pause(random.between(0, 25));
    const once = () => editors[name](path, text, wait, before ?? '');
    try {
      if (name === 'inPlace' || name === 'append') await disk.whileEmpty(once);
      else await once();
      counts.edits++;
      return name;
    } catch (error) {
      if (error.code !== 'ENOSPC') throw error;
      await pause(100);
    }
  }
}

export const readText = path => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
};
