import {type Facts, unreadFacts} from '../check/facts.ts';
import {type ParsedFile, parseFile} from '../check/parse-file.ts';
import {factsFrom} from '../check/read-facts.ts';
import type {Problem} from '../formats/common/diagnostic.ts';
import type {Kind} from '../formats/common/key.ts';
import type {Session} from '../formats/session/session.ts';
import type {Disk} from '../home/disk/disk.ts';
import {blobId} from '../home/git/blob-id.ts';
import {type FileRead, readHomeFile} from '../home/read.ts';

/** A file as it was found on disk. */
export interface FileSnapshot extends FileRead {
  path: string;
  kind: Kind;
  blob: string;
  /** Undefined if the bytes are not text. */
  text: string | undefined;
  parsed: ParsedFile | undefined;
  facts: Facts;
}

/** The bytes and stat of a file, before it is parsed. `blob` is computed if left out. */
export type FileContent = Pick<FileSnapshot, 'bytes' | 'stat'> & Partial<Pick<FileSnapshot, 'link' | 'blob'>>;

/** The snapshot of a text file. `previous`: an earlier version of the file; unchanged parts of it are not parsed again. */
export function snapshotOfText(
  path: string,
  kind: Kind,
  text: string,
  found: FileContent,
  previous?: ParsedFile,
): FileSnapshot {
  const parsed = parseFile(path, text, previous);
  const facts = parsed ? factsFrom(parsed) : unreadFacts(path, []);
  const {bytes, stat, link = false, blob = blobId(bytes)} = found;
  return {path, kind, bytes, blob, stat, link, text, parsed, facts};
}

/** The snapshot of a session that the daemon has just written, made without parsing it. */
export function snapshotOfSession(path: string, session: Session, text: string, found: FileContent): FileSnapshot {
  // A slice of `text` needs no memory of its own.
  const body = text.slice(session.head.length, text.length - session.foot.length);
  const parsed: ParsedFile = {kind: 'session', path, file: {...session, body}};
  const {bytes, stat, link = false, blob = blobId(bytes)} = found;
  return {path, kind: 'session', bytes, blob, stat, link, text, parsed, facts: factsFrom(parsed)};
}

/** The snapshot of a file that is not text. `problem` says why. */
export function snapshotOfBytes(path: string, kind: Kind, problem: Problem, found: FileContent): FileSnapshot {
  const {bytes, stat, link = false, blob = blobId(bytes)} = found;
  const facts = unreadFacts(path, [problem]);
  return {path, kind, bytes, blob, stat, link, text: undefined, parsed: undefined, facts};
}

/** The home's name for addresses such as `planner-001@home`. */
export function homeName(disk: Disk): string {
  const read = readHomeFile(disk, 'agentdir.yaml');
  const parsed = read && 'text' in read ? parseFile('agentdir.yaml', read.text) : undefined;
  return (parsed?.kind === 'settings' && parsed.file.value?.name) || 'home';
}
