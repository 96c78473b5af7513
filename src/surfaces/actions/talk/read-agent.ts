import {exit, UserError} from '../../../formats/common/errors.ts';
import {stemOf} from '../../../formats/common/key.ts';
import {memberOf, memberTemplate} from '../../../formats/run.ts';
import {parseTemplate, type TemplateValue} from '../../../formats/template.ts';
import {parseMarkdownTemplate} from '../../../formats/template-markdown.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {readHomeFile} from '../../../home/read.ts';
import {findInstance} from '../instances/instances.ts';
import {fileError} from './file-error.ts';
import {templates} from './find-agent.ts';

export interface Agent {
  name: string;
  template: TemplateValue;
}

/** An agent of the home, or of a workflow instance. */
export function agentNamed(home: string, name: string): Agent {
  const member = memberOf(name);
  const run = member && findInstance(home, member.instance);
  const base = run?.definitions[member?.name ?? '']?.template;
  const own =
    run && member && memberTemplate(run, member.name, base === undefined ? undefined : agentNamed(home, base).template);
  if (own) return {name, template: own};
  const path = templates(home).find(path => stemOf(path) === name);
  const read = path === undefined ? undefined : readHomeFile(nodeDisk(home), path);
  if (path === undefined || !read) throw new UserError(`no agent "${name}"`, exit.usage, 'see agentdir agent');
  if (!('text' in read)) throw fileError(path, [read.problem]);
  const file = path.endsWith('.md') ? parseMarkdownTemplate(read.text, name) : parseTemplate(read.text, name);
  if (!file.value) throw fileError(path, file.problems);
  return {name, template: file.value};
}
