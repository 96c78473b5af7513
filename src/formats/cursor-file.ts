import {z} from 'zod';
import type {Problem} from './common/diagnostic.ts';
import {stemOf} from './common/key.ts';
import {validate} from './yaml/validate.ts';
import {readQuickly} from './yaml/yaml-quick.ts';
import {yamlText} from './yaml/yaml-text.ts';

const position = {
  inode: z.string().describe('The file that was read, as the file system numbers it.'),
  generation: z.int().min(1).describe('Which of the files that had this name it is.'),
  offset: z.int().min(0).describe('How many of its bytes are read.'),
  line: z.int().min(0).describe('How many of its lines are read.'),
  head: z
    .string()
    .describe('Of the first bytes: how many, and their hash. Covers the first line before that is delivered.'),
  tail: z.string().describe('Of the last bytes that are read: the same.'),
  as: z
    .string()
    .optional()
    .describe('It was read as another inbox before it got this name: its deliveries have that name and generation.'),
};

const positionSchema = z.looseObject(position);

const {inode, offset, head, tail} = position;
const finishedSchema = z.looseObject({inode, offset, head, tail});

export const cursorSchema = z
  .looseObject({
    ...position,
    since: z.int().min(1).describe('Files from this generation on are versions of one another: an editor wrote them.'),
    rewritten: z
      .int()
      .min(0)
      .optional()
      .describe('Up to here an editor wrote the file anew: lines that were delivered before are not delivered again.'),
    rotated: z
      .array(positionSchema)
      .optional()
      .describe('Earlier files, renamed or copied, that may have more to read.'),
    finished: z
      .array(finishedSchema)
      .optional()
      .describe('Rotated files that are still there and have nothing more to read. Other rotated files are new.'),
  })
  .meta({
    title: 'Agentdir inbox cursor',
    description: 'state/inbox/<name>.yaml: how far inbox/<name>.jsonl is read, written by the daemon',
  });

/** How far a file has been read. */
export type Position = z.infer<typeof positionSchema>;
/** Identifies a rotated file that has nothing more to read. `offset`: its size. */
export type FinishedFile = Pick<Position, 'inode' | 'offset' | 'head' | 'tail'>;
/** How far an inbox has been read: the file with its name now, and those that had the name before. */
export type Cursor = z.infer<typeof cursorSchema>;

export interface CursorFile {
  text: string;
  value: Cursor | undefined;
  problems: Problem[];
}

const FOLDER = 'state/inbox/';

export function cursorPath(inbox: string): string {
  return `${FOLDER}${stemOf(inbox)}.yaml`;
}

/** Inbox of a cursor file; undefined: not a cursor file. */
export function inboxOf(path: string): string | undefined {
  return path.startsWith(FOLDER) ? `inbox/${stemOf(path)}.jsonl` : undefined;
}

/** Must not throw. */
export function parseCursor(text: string): CursorFile {
  const hint = 'delete this file: the inbox is read again, and nothing that sessions have is delivered twice';
  const {value, problems} = validate(cursorSchema, readQuickly(text), hint);
  return {text, value, problems: problems.map(each => ({...each, hint}))};
}

/** Equal cursors give equal texts. */
export function cursorText(cursor: Cursor): string {
  const {since, rewritten, rotated = [], finished} = cursor;
  const value = {
    ...positionOf(cursor),
    since,
    ...(rewritten !== undefined && {rewritten}),
    ...(rotated.length > 0 && {rotated: rotated.map(positionOf)}),
    ...(finished && {finished: finished.map(finishedOf)}),
  };
  return `# yaml-language-server: $schema=../../schemas/cursor.json
# How far the inbox of this name is read. The daemon writes this.
${yamlText(value)}`;
}

export function positionOf({inode, generation, offset, line, head, tail, as}: Position): Position {
  return {inode, generation, offset, line, head, tail, ...(as !== undefined && {as})};
}

export function finishedOf({inode, offset, head, tail}: FinishedFile): FinishedFile {
  return {inode, offset, head, tail};
}

/** Name and generation in the delivery ids of a file. A file that an editor rewrote counts as the inbox's own. */
export function deliveredAs(name: string, at: Position): {name: string; generation: number} {
  const {as, generation, since = generation} = at as Position & {since?: number};
  const own = as === undefined || since !== generation;
  return own ? {name, generation} : readAs(as, generation);
}

/** `slack.jsonl@2`; the generation defaults to that of the file. */
export function readAs(as: string, generation: number): {name: string; generation: number} {
  const [, name, number] = /^(.*)@(\d+)$/.exec(as) ?? [];
  return name === undefined ? {name: as, generation} : {name, generation: Number(number)};
}

export function stringifyCursor(file: CursorFile): string {
  return file.text;
}

/** The inbox has had no file yet, so there is nothing to record. */
export function isUnread({inode, generation, rotated}: Cursor): boolean {
  return inode === '' && generation === 1 && !rotated;
}

export function newCursor(generation = 1): Cursor {
  return {inode: '', generation, since: generation, offset: 0, line: 0, head: '', tail: ''};
}
