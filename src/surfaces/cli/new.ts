import {exit, UserError} from '../../formats/common/errors.ts';
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
