import {APPROVALS_FILE} from '../formats/approval/approval-item.ts';
import {stemOf} from '../formats/common/key.ts';
import type {HomeIndex} from './home-index.ts';

const MOST = 20;

/** Pending requests of an agent. */
export function pendingApprovals(index: HomeIndex, agent: string): {id: string; title: string}[] {
  const {items = [], needs = []} = index.facts(APPROVALS_FILE) ?? {};
  const titles = new Map(needs.map(({id, title}) => [id, title]));
  const own = items.flatMap(item =>
    item.agent === agent && item.decision === null && item.id !== null ? [item.id] : [],
  );
  return own.slice(0, MOST).map(id => ({id, title: titles.get(id) ?? ''}));
}

/** Sessions among these that have not ended. */
export function openChildren(
  index: HomeIndex,
  sessions: Iterable<string>,
): {session: string; agent: string; status: string}[] {
  const open: {session: string; agent: string; status: string}[] = [];
  for (const session of sessions) {
    const path = index.definitionsOf(`session/${session}`).find(each => stemOf(each.path) === session)?.path;
    const {agent, status} = (path === undefined ? undefined : index.facts(path)?.session) ?? {};
    if (agent !== undefined && status !== 'completed') open.push({session, agent, status: status ?? 'new'});
  }
  return open.slice(0, MOST);
}
