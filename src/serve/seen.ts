import type {BigIntStats} from 'node:fs';
import {type Facts, unreadFacts} from '../check/facts.ts';
import {type ParsedFile, parseFile} from '../check/parse-file.ts';
import {factsFrom} from '../check/read-facts.ts';
import type {Problem} from '../files/diagnostic.ts';
import type {Kind} from '../files/key.ts';
import {readHomeFile} from '../store/read.ts';
import {blobId} from '../store/replaced.ts';

/** A file as it was found on disk. */
export interface Seen {
  path: string;
  kind: Kind;
  bytes: Buffer;
  blob: string;
  stat: BigIntStats;
  /** Undefined if the bytes are not text. */
  text: string | undefined;
  parsed: ParsedFile | undefined;
  facts: Facts;
}

export function seenText(path: string, kind: Kind, text: string, bytes: Buffer, stat: BigIntStats): Seen {
  const parsed = parseFile(path, text);
  const facts = parsed ? factsFrom(parsed) : unreadFacts(path, []);
  return {path, kind, bytes, blob: blobId(bytes), stat, text, parsed, facts};
}

export function seenBytes(path: string, kind: Kind, problem: Problem, bytes: Buffer, stat: BigIntStats): Seen {
  const facts = unreadFacts(path, [problem]);
  return {path, kind, bytes, blob: blobId(bytes), stat, text: undefined, parsed: undefined, facts};
}

/** What the home calls itself, for addresses such as `planner-001@home`. */
export function homeName(home: string): string {
  const read = readHomeFile(home, 'agentdir.yaml');
  const parsed = read && 'text' in read ? parseFile('agentdir.yaml', read.text) : undefined;
  return (parsed?.kind === 'settings' && parsed.file.value?.name) || 'home';
}
