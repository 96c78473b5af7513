import {parseFile} from '../check/parse-file.ts';
import type {Message} from '../files/session-schema.ts';
import {readHomeFile} from '../store/read.ts';
import type {Serving} from './serving.ts';

/** Messages that a session moved to other files, oldest first. Those files never change once they are named. */
export async function earlierMessages(serving: Serving, segments: readonly string[]): Promise<readonly Message[]> {
  return segments.flatMap(path => {
    const read = readHomeFile(serving.home, path);
    const parsed = read && 'text' in read ? parseFile(path, read.text) : undefined;
    return parsed?.kind === 'session' ? parsed.file.messages : [];
  });
}
