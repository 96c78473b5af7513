import {mentionHint} from '../formats/channel.ts';
import {type Problem, problem} from '../formats/common/diagnostic.ts';
import {stemOf} from '../formats/common/key.ts';
import {instanceOf, memberOf} from '../formats/run.ts';
import {checkItems, checkPage} from './approvals.ts';
import type {Facts, Reference} from './facts.ts';
import {indexIn, type Look} from './look.ts';
import {agentFault, isPerson, namesSeen} from './names.ts';
import {checkCostLimit, checkModelPrice} from './prices.ts';
import {checkSession} from './sessions.ts';
import {checkTasks} from './tasks.ts';

/** Problems of a file in relation to other files. Pure, except that `look` records lookups. */
export function checkFile(path: string, facts: Facts, look: Look): Problem[] {
  if (facts.session) return checkSession(path, facts.session, look);
  if (facts.tasks) return checkTasks(path, facts.tasks, look);
  if (facts.items) return checkItems(path, facts.items, look);
  if (facts.page) return checkPage(path, facts.page, look);
  if (facts.refers) return [...checkReferences(path, facts.refers, look), ...checkCostLimit(path, facts, look)];
  if (facts.mentions) return checkMentions(path, facts.mentions, look);
  if (facts.kind !== 'template' || facts.defines.length === 0) return [];
  const price = checkModelPrice(path, facts.agent?.model, look);
  return [...checkTemplate(path, look), ...(price.length > 0 ? price : checkCostLimit(path, facts, look))];
}

function checkTemplate(path: string, look: Look): Problem[] {
  const id = stemOf(path);
  const all = look.named(`agent/${id}`);
  const other = all[indexIn(all, path) - 1];
  if (!other) return [];
  return [
    problem(
      'DUPLICATE_ID',
      {line: 1, column: 1},
      `expected each agent once, found "${id}" also in ${other.path}`,
      'remove or rename one of the two',
      path,
    ),
  ];
}

/** Mentions in a channel that wake nobody: the name is no agent of the instance, and no person. */
function checkMentions(path: string, mentions: readonly Reference[], look: Look): Problem[] {
  const instance = instanceOf(path) ?? '';
  const names = namesSeen(look);
  const members = look.all('agent').flatMap(agent => {
    const member = memberOf(agent);
    return member?.instance === instance ? [member.name] : [];
  });
  return mentions.flatMap(mention => {
    const {name} = mention;
    const member = memberOf(name)?.instance === instance ? (memberOf(name)?.name ?? name) : name;
    if (members.includes(member) || isPerson(name, names) || name === 'system' || members.length === 0) return [];
    const message = `@${name} wakes nobody: it is no agent of the instance ${instance}`;
    return [problem('UNKNOWN_MENTION', mention, message, mentionHint(name, members), path)];
  });
}

function checkReferences(path: string, references: readonly Reference[], look: Look): Problem[] {
  const names = namesSeen(look);
  return references.flatMap(reference => {
    if (reference.isWorkflow) return missingWorkflow(path, reference, look);
    const agent = reference.name.replace(/^@/, '');
    const fault = agentFault(agent, names);
    return fault ? [problem('UNKNOWN_AGENT', reference, fault.message, fault.hint, path)] : [];
  });
}

function missingWorkflow(path: string, {name, line, column}: Reference, look: Look): Problem[] {
  if (look.named(`workflow/${name}`).length > 0) return [];
  const message = `the schedule starts nothing: there is no workflow "${name}" in workflows/`;
  const hint = `correct the name, or add workflows/${name}.workflow.yaml`;
  return [problem('UNKNOWN_WORKFLOW', {line, column}, message, hint, path)];
}
