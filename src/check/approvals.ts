import {type Problem, problem} from '../formats/common/diagnostic.ts';
import {type ItemFact, type PageFact, SOUND_QUEUE} from './approval-facts.ts';
import type {Look} from './look.ts';
import {isAgent, namesSeen} from './names.ts';
import {hasSessionFile} from './sessions.ts';

/**
 * Items that nobody waits for any more, and decisions that differ between the two places. Once the daemon has recorded a
 * decision, a re-saved page of that id is ignored.
 */
export function checkItems(path: string, items: readonly ItemFact[], look: Look): Problem[] {
  const names = namesSeen(look);
  const known = new Map<string, boolean>();
  const knows = (agent: string) => {
    const is = known.get(agent) ?? isAgent(agent, names);
    known.set(agent, is);
    return is;
  };
  return items.flatMap(item => checkItem(path, item, look, knows));
}

function checkItem(path: string, item: ItemFact, look: Look, knows: (agent: string) => boolean): Problem[] {
  const {id, decision, agent, session} = item;
  const say = (code: Problem['code'], message: string, hint: string) => [problem(code, item, message, hint, path)];
  if (id === null)
    return say('ORPHANED_APPROVAL', 'expected an id, found none: no call waits for this item', 'remove it');
  // Looked at only where it matters: whatever is looked at is watched, for each of very many.
  const page = decision || session === null ? look.named(`page/${id}`).at(-1) : undefined;
  if (decision && page?.state && decision !== page.state)
    return say(
      'DECISIONS_DIFFER',
      `"${id}" is ${decision} here and ${page.state} in ${page.path}`,
      'make both the same; until then nothing runs',
    );
  if (decision) return [];
  if (agent !== null && !knows(agent))
    return say(
      'ORPHANED_APPROVAL',
      `"${id}" was asked by "${agent}", which has no template`,
      `restore templates/${agent}.agent.yaml, or reject it: [-]`,
    );
  if (session !== null && !hasSessionFile(session, look))
    return say(
      'ORPHANED_APPROVAL',
      `"${id}" belongs to the session "${session}", which does not exist`,
      'restore the session file, or reject it: [-]',
    );
  if (session === null && !page)
    return say(
      'ORPHANED_APPROVAL',
      `"${id}" has neither a session nor approvals/pending/${id}.approval.md: no call waits for it`,
      'reject it: [-]',
    );
  return [];
}

/**
 * A pending page that has no item. One whose title is not its name has that problem alone; and as long as the queue is
 * missing or has errors, nobody knows what is in it.
 */
export function checkPage(path: string, {id, misnamed}: PageFact, look: Look): Problem[] {
  if (id === null || misnamed || look.named(`item/${id}`).length > 0 || look.named(SOUND_QUEUE).length === 0) return [];
  return [
    problem(
      'ORPHANED_APPROVAL',
      {line: 1, column: 1},
      `"${id}" has no item in tasks/approvals.task.md: no call waits for it`,
      'move it to approvals/rejected/',
      path,
    ),
  ];
}
