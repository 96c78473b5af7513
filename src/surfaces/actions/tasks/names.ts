import {agentHint, assigneeFault, type Names} from '../../../check/names.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {oneOf} from '../talk/one-of.ts';

/** Resolves a full name, or a unique part of an agent's name. Throws if nothing can be delivered there. */
export function assigneeNamed(wanted: string, names: Names): string {
  const name = wanted.replace(/^@/, '');
  const fault = assigneeFault(name, names);
  if (!fault) return name;
  if (/[@/]/.test(name)) throw new UserError(fault.message, exit.usage, fault.hint);
  return oneOf('agent', name, [...names.agents(), 'human'], agentHint(name, names));
}

/** Resolves `new:TEMPLATE` or `new:provider/model`. */
export function newAgentNamed(wanted: string, names: Names): string {
  const [, what = ''] = /^new:(\S+)$/.exec(wanted) ?? [];
  if (/^[^/]+\/.+$/.test(what)) return wanted;
  if (what === '' || what.includes('/'))
    throw new UserError(`expected new:TEMPLATE or new:provider/model, got "${wanted}"`, exit.usage);
  return `new:${oneOf('template', what, names.agents(), agentHint(what, names))}`;
}
