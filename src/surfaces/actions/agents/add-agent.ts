import {isPerson} from '../../../check/names.ts';
import {SPAWNED, spawnedPath, spawnedTemplate, type WantedAgent} from '../../../check/spawned-agent.ts';
import {GENERAL} from '../../../check/task-links.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {newTemplate, type TemplateValue} from '../../../formats/template.ts';
import {editFile} from '../../../home/edit-file.ts';
import {addressableNames} from '../talk/addressable-names.ts';
import {agentName} from '../talk/find-agent.ts';
import {agentNamed} from '../talk/read-agent.ts';

/** Adds an agent as a file in templates/spawned/. `template`: default general-purpose. */
export async function addAgent(
  home: string,
  {template = GENERAL, ...wanted}: WantedAgent & {template?: string | undefined},
): Promise<{path: string; value: TemplateValue; template: string}> {
  const names = addressableNames(home);
  const {name} = wanted;
  const base = agentName(home, template);
  const planned = spawnedTemplate(wanted, agentNamed(home, base).template, {by: 'human'});
  if ('problem' in planned) throw new UserError(planned.problem, exit.usage, 'see agentdir agents add --help');
  if (names.hasAgent(name))
    throw new UserError(`there is an agent "${name}" already`, exit.usage, `look at it: agentdir agent ${name}`);
  if (isPerson(name, names))
    throw new UserError(`"${name}" is a person of agentdir.yaml`, exit.usage, 'choose another name');
  const path = spawnedPath(name);
  const {value} = planned;
  await editFile(home, path, () => ({
    expected: undefined,
    text: newTemplate(value, `${'../'.repeat(SPAWNED.split('/').length - 1)}schemas/agent.json`),
    saved: () => {},
  }));
  return {path, value, template: base};
}
