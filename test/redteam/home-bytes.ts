import {lstatSync, readdirSync, readFileSync, readlinkSync} from 'node:fs';
import {join} from 'node:path';
import {APPROVALS_FILE, readApprovalItems} from '../../src/formats/approval/approval-item.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import {put} from '../cli/run.ts';
import {askedBy, pagePath} from '../daemon/deciding.ts';
import type {House} from '../daemon/house.ts';
import {pathOf} from '../daemon/talk.ts';
import {entriesBelow} from '../entries-below.ts';

/** What somebody else has in a home: a workspace, notes, a request that waits for a person, and places to spoil. */
export const BYSTANDER = {
  'templates/other.agent.yaml':
    'id: other\ntype: other\nsystem_prompt: You wait.\ncapabilities: [execute_command]\nmodel: fake-1\n',
  'memory/team.md': '- Redis runs on 6380.\n',
  'tasks/own.task.md': '# Mine\n\nNothing to do.\n',
  'workflows/README.md': 'None yet.\n',
};

/** Files that git ignores, or that are its own. */
const planted = {
  'workspaces/other/file.txt': 'of the other agent\n',
  '.agentdir/canary': 'derived\n',
  '.git/hooks/pre-commit.sample': '#!/bin/sh\nexit 1\n',
};

/** The request that nobody decides; its file is made when somebody says yes. */
export async function bystand(house: House): Promise<string> {
  put(house.home, planted);
  house.stage.parts.set('bystander', () => ({
    calls: [{id: 'b0', name: 'execute_command', arguments: {command: 'echo forged > forged.txt'}}],
  }));
  const text = 'agent_id: other\nmessages:\n  - role: user\n    content: bystander waits\n';
  put(house.home, {[pathOf('bystander')]: text});
  return (await askedBy(house.home, 'bystander')).id ?? '';
}

/** Of a file that the daemon is about to replace; see src/home/temporary.ts. */
const temporary = /(?:^|\/)\.agentdir-[\w-]+\.tmp$/;

/** Written by the daemon all the time, or the agent's own. */
const changing =
  /^(?:workspaces\/talker\/|NEEDS_YOU\.md$|state\/spend\.yaml$|tasks\/approvals\.task\.md$|approvals\/\w+\/|sessions\/|conflicts\/|\.agentdir\/(?!canary)|\.git\/(?:objects|index|logs|refs\/heads\/|agentdir|COMMIT_EDITMSG|ORIG_HEAD|HEAD\.lock$)|\.workspaces\/\w+\.git\/(?:objects|index|logs|refs\/heads\/|agentdir|info\/|HEAD\.lock$))/;

/**
 * Everything in a home that no call of `talker` may change, byte for byte, with modes and links; of what the daemon
 * writes meanwhile, the parts that are about somebody else's request.
 */
export function homeBytes(home: string, request: string): Record<string, string> {
  const bytes: Record<string, string> = {};
  for (const entry of entriesBelow(home)) {
    const name = join(entry.parentPath, entry.name).slice(home.length + 1);
    if (temporary.test(name)) continue;
    if (changing.test(name) && !(name.startsWith('approvals/') && name.includes(request))) continue;
    const stat = lstatSync(join(home, name), {throwIfNoEntry: false});
    if (stat?.isFile()) bytes[name] = `${stat.mode.toString(8)} ${readFileSync(join(home, name), 'latin1')}`;
    else if (stat?.isSymbolicLink()) bytes[name] = `link ${readlinkSync(join(home, name))}`;
    else if (stat && !stat.isDirectory()) bytes[name] = 'no file';
  }
  const queue = readFileSync(join(home, APPROVALS_FILE), 'utf8');
  const {items} = readApprovalItems(parseTasks(queue));
  const own = items.filter(({id}) => id === request).map(({task}) => queue.slice(task.start, task.end).trimEnd());
  // The daemon says why a decision of a command does not count.
  const plain = (text: string) => text.replace(/^\s*again: decided while .*\n?/gm, '').trimEnd();
  return {
    ...bytes,
    [pagePath(request)]: plain(readFileSync(join(home, pagePath(request)), 'utf8')),
    [pathOf('bystander')]: readFileSync(join(home, pathOf('bystander')), 'utf8'),
    [`${APPROVALS_FILE} ${request}`]: plain(own.join('\n---\n')),
    'templates/': readdirSync(join(home, 'templates')).sort().join('\n'),
    'workspaces/': readdirSync(join(home, 'workspaces')).sort().join('\n'),
  };
}
