import {exit, UserError} from '../../formats/common/errors.ts';
import {instanceAgentNames} from '../actions/instances/instances.ts';
import {agentName} from '../actions/talk/find-agent.ts';
import {findSharedSession} from '../actions/talk/find-session.ts';
import {makeSession} from '../actions/talk/make-session.ts';
import {agentNamed} from '../actions/talk/read-agent.ts';
import {colors, print, printJson} from '../terminal/output.ts';

export async function newSessionCommand(options: {
  home: string;
  agent: string;
  shared: boolean;
  json: boolean;
}): Promise<number> {
  const {home, shared, json} = options;
  const agent = agentNamed(home, agentName(home, options.agent));
  const other = shared ? findSharedSession(home, agent.name) : undefined;
  if (other)
    throw new UserError(
      `${agent.name} has a shared session: ${other.path}`,
      exit.failed,
      'remove "shared: true" from that one first, or omit --shared',
    );
  const {id, path} = await makeSession({home, agent, shared, now: new Date().toISOString()});
  if (json) printJson({session: id, path, agent: agent.name, shared});
  else
    print(
      `${colors.green('created')} ${path}\n  edit it with any editor, or: agentdir send TEXT --session ${id} --wait`,
    );
  return exit.done;
}

/** Whether a workflow instance has this agent. */
export function hasMember(home: string, name: string, instance: string): boolean {
  return instanceAgentNames(home).includes(`${name.replace(/^@/, '')}@${instance}`);
}

/** Adds an agent to a workflow instance, and creates its session. */
export async function newMemberCommand({
  home,
  agent,
  instance,
  json,
}: {
  home: string;
  agent: string;
  instance: string;
  json: boolean;
}): Promise<number> {
  const {addMember} = await import('../actions/workflows/add-member.ts');
  const added = await addMember(home, agent.replace(/^@/, ''), instance);
  const {id, path} = await makeSession({
    home,
    agent: agentNamed(home, added.agent),
    shared: true,
    now: new Date().toISOString(),
  });
  if (json) printJson({session: id, path, agent: added.agent, shared: true, template: added.template, instance});
  else
    print(
      `${colors.green('created')} ${colors.bold(added.agent)}, from ${added.template}, with channel and document\n  talk to it: agentdir send TEXT --to ${added.agent}, or agentdir context send "@${added.agent.split('@')[0]} …" --instance ${instance}`,
    );
  return exit.done;
}
