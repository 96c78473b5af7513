import {GENERAL} from '../../../check/task-links.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {stemOf} from '../../../formats/common/key.ts';
import {isId} from '../../../formats/common/values.ts';
import {type Run, runPath, runText} from '../../../formats/run.ts';
import {editFile} from '../../../home/edit-file.ts';
import {authorHere} from '../../../home/git/git-config.ts';
import {changeInstance, findInstance} from '../instances/instances.ts';
import {templates} from '../talk/find-agent.ts';

export interface AddedMember {
  /** `helper@default` */
  agent: string;
  template: string;
  run: Run;
}

/**
 * Add an agent to an instance by hand, so that it has channel and document. The agent is based on the agent of the home with that name,
 * else on general-purpose. An instance that does not exist is created.
 */
export async function addMember(home: string, name: string, instance: string): Promise<AddedMember> {
  if (!isId(name) || !isId(instance) || instance.length > 60 || name === 'human' || name === 'system')
    throw new UserError(
      `not a name: ${JSON.stringify(`${name}@${instance}`.slice(0, 80))}`,
      exit.usage,
      'use letters, digits, ".", "_" and "-"',
    );
  const known = templates(home).map(stemOf);
  const template = known.includes(name) ? name : GENERAL;
  if (!known.includes(template))
    throw new UserError(`no agent "${name}"`, exit.usage, `add one: agentdir agents add ${name} --template TEMPLATE`);
  const member = {agents: {[name]: `${name}.${instance}`}, definitions: {[name]: {template}}};
  const added = (run: Run): AddedMember => ({agent: `${name}@${instance}`, template, run});
  const existing = findInstance(home, instance);
  if (existing) {
    refuseSecond(existing, name);
    return added(
      await changeInstance(home, instance, run => {
        refuseSecond(run, name);
        return {agents: {...run.agents, ...member.agents}, definitions: {...run.definitions, ...member.definitions}};
      }),
    );
  }
  const run: Run = {
    workflow: 'none',
    name: instance,
    instance,
    status: 'idle',
    started: new Date().toISOString(),
    by: await authorHere(home),
    context: {provider: 'file', channel: true, document: true},
    ...member,
  };
  return editFile(home, runPath(instance), () => {
    if (findInstance(home, instance))
      throw new UserError(`the instance ${instance} was created meanwhile`, exit.failed, 'run the command again');
    return {expected: undefined, text: runText(run), saved: () => added(run)};
  });
}

function refuseSecond({definitions, instance}: Run, name: string): void {
  if (Object.hasOwn(definitions, name))
    throw new UserError(
      `${instance} has an agent ${name} already`,
      exit.failed,
      `talk to it: agentdir send TEXT --to ${name}@${instance}`,
    );
}
