import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {parseApproval} from '../../src/formats/approval/approval.ts';
import {setReview} from '../../src/formats/approval/approval-edit.ts';
import {APPROVALS_FILE, type ApprovalItem, readApprovalItems} from '../../src/formats/approval/approval-item.ts';
import {fieldOf} from '../../src/formats/task/task.ts';
import {updateTask} from '../../src/formats/task/task-edit.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {until} from '../cli/run.ts';
import {read} from './serve.ts';
import {sessionOf} from './talk.ts';

/** What a person sees and does, by the files alone. */
export const itemsOf = (home: string): ApprovalItem[] =>
  readApprovalItems(parseTasks(read(home, APPROVALS_FILE))).items;

export const field = (item: ApprovalItem | undefined, key: string): string | undefined =>
  item && fieldOf(item.task, key);

/** The request that a call of this session waits for, once it is in the queue and has its page. */
export async function askedBy(home: string, session: string, nth = 0): Promise<ApprovalItem> {
  const own = () => {
    const items = itemsOf(home).filter(item => item.session === session);
    const pages = pagesIn(home, 'pending');
    return items[nth]?.id !== undefined && (items[nth]?.status !== 'pending' || pages.includes(items[nth].id))
      ? items[nth]
      : undefined;
  };
  const found = await until(own, item => item !== undefined);
  if (!found) throw new Error('not asked');
  return found;
}

/** The item once it is as `holds` says. */
export async function whenItem(
  home: string,
  id: string | undefined,
  holds: (item: ApprovalItem) => boolean,
): Promise<ApprovalItem> {
  const own = () => itemsOf(home).find(item => item.id === id);
  const found = await until(own, item => item !== undefined && holds(item));
  if (!found) throw new Error('no such item');
  return found;
}

export const pagesIn = (home: string, folder: 'pending' | 'approved' | 'rejected'): string[] => {
  try {
    return readdirSync(join(home, 'approvals', folder))
      .filter(name => name.endsWith('.approval.md') && !name.startsWith('.'))
      .map(name => name.slice(0, -'.approval.md'.length));
  } catch {
    return [];
  }
};

export const pagePath = (id: string | undefined, folder = 'pending'): string => `approvals/${folder}/${id}.approval.md`;

/** As an editor that saves in place does it. */
export function decideInQueue(
  home: string,
  id: string | undefined,
  box: 'x' | '-' | '_' | '/',
  fields: Record<string, string | undefined> = {},
): void {
  const file = parseTasks(read(home, APPROVALS_FILE));
  const item = readApprovalItems(file).items.find(each => each.id === id);
  if (!item) throw new Error(`no item ${id}`);
  writeFileSync(join(home, APPROVALS_FILE), updateTask(file, item.task, {box, fields}));
}

/** All that a session waits for, once there are so many of them, in one save. */
export async function decideAll(home: string, session: string, count: number, box: 'x' | '-'): Promise<ApprovalItem[]> {
  for (let nth = 0; nth < count; nth++) await askedBy(home, session, nth);
  let text = read(home, APPROVALS_FILE);
  const own = itemsOf(home).filter(item => item.session === session && item.status === 'pending');
  for (const {id} of own) {
    const file = parseTasks(text);
    const item = readApprovalItems(file).items.find(each => each.id === id);
    if (item) text = updateTask(file, item.task, {box});
  }
  writeFileSync(join(home, APPROVALS_FILE), text);
  return own;
}

/** Decide about every request of a session, also about those that are asked again, until the session sleeps. */
export async function decideAsAsked(home: string, session: string, ms?: number, box: 'x' | '-' = 'x'): Promise<void> {
  await until(
    () => {
      const pages = pagesIn(home, 'pending');
      const open = itemsOf(home).filter(
        ({id = '', session: of, status, decision}) =>
          of === session && status === 'pending' && decision === undefined && pages.includes(id),
      );
      if (open[0]) decideInQueue(home, open[0].id, box);
      return sessionOf(home, session).header?.status;
    },
    status => status === 'sleeping',
    ms,
  );
}

export function decideOnPage(
  home: string,
  id: string | undefined,
  review: Parameters<typeof setReview>[1],
  change: (text: string) => string = text => text,
): void {
  const path = join(home, pagePath(id));
  writeFileSync(path, setReview(change(readFileSync(path, 'utf8')), review));
}

export const pageOf = (home: string, id: string | undefined, folder = 'pending') =>
  parseApproval(read(home, pagePath(id, folder)));
