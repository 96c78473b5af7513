import {statSync} from 'node:fs';
import {join} from 'node:path';
import type {Position} from '../files/cursor-file.ts';
import {shortHash} from '../files/inbox-message.ts';
import {kindOf} from '../files/key.ts';
import {closeInbox, inboxFiles, openInbox, readLines} from '../store/inbox-lines.ts';
import {linesDelivered} from './lines-found.ts';

/** What a rotation puts between the name and its ending, or behind both. */
const SUFFIX = /^[-_.]?\d[\dTZ_.:-]*$/;

/** slack-20261117.jsonl, slack.1.jsonl: of slack.jsonl. */
export function isRotatedName(stem: string, name: string): boolean {
  return name.startsWith(stem) && name.endsWith('.jsonl') && SUFFIX.test(name.slice(stem.length, -'.jsonl'.length));
}

/**
 * Files that had the name after the last of those that are known, and were renamed or copied before anybody looked: numbers of such as are
 * newer, oldest first. One with lines that were delivered from those is a copy. What a daemon delivered of it that was killed before it
 * wrote that down is in sessions, by the same ids.
 */
export async function missedFiles(home: string, name: string, known: readonly Position[]): Promise<string[]> {
  const all = [...inboxFiles(home)].map(([file, inode]) => ({file, inode, at: timesOf(home, file)}));
  const last = all.find(({inode}) => inode === known.at(-1)?.inode);
  const newer = all
    .filter(({file}) => file.startsWith(name) && SUFFIX.test(file.slice(name.length)) && !kindOf(`inbox/${file}`))
    .filter(({inode}) => !known.some(each => each.inode === inode))
    .filter(({at}) => last && at.born >= last.at.born && at.written >= last.at.written)
    .sort((a, b) => (a.at.written < b.at.written ? -1 : 1));
  if (newer.length === 0) return [];
  const {lines} = await linesDelivered(home, name, {since: 1, upTo: known.at(-1)?.generation ?? 0});
  const found: string[] = [];
  for (const {file, inode} of newer) if (!(await hasLines(home, file, hash => lines.has(hash)))) found.push(inode);
  return found;
}

function timesOf(home: string, file: string): {born: bigint; written: bigint} {
  const stat = statSync(join(home, 'inbox', file), {bigint: true, throwIfNoEntry: false});
  return {born: stat?.birthtimeNs ?? 0n, written: stat?.mtimeNs ?? 0n};
}

async function hasLines(home: string, name: string, isKnown: (hash: string) => boolean): Promise<boolean> {
  const file = openInbox(home, `inbox/${name}`);
  if (!file) return true;
  try {
    const {lines} = await readLines(file, 0, {holes: true});
    return lines.some(({bytes}) => isKnown(shortHash(bytes)));
  } finally {
    closeInbox(file);
  }
}
