import {nearest, type Place, type Problem, problem} from './common/diagnostic.ts';
import {isMap} from './common/values.ts';
import {variablesIn} from './workflow-variables.ts';
import {editYaml} from './yaml/yaml-edit.ts';
import {readQuickly} from './yaml/yaml-quick.ts';
import {type Path, placeOfValue} from './yaml/yaml-source.ts';

/** A workflow of agent-worker v1, converted. */
export interface MigratedWorkflow {
  /** Undefined: it could not be converted, and `problems` say why. */
  text: string | undefined;
  problems: Problem[];
  /** Points that a person should check. */
  notes: string[];
}

interface Message {
  to: string;
  text: string;
  as: string | undefined;
}

interface Steps {
  setup: {shell: string; as?: string}[];
  messages: Message[];
}

/**
 * Convert a workflow with `tasks:`, a list of `{shell, as}` and `{send, to, as}`, to `setup:` and `kickoff:`. The first agent is woken by
 * the kickoff, which tells each agent whom to hand over to. Must not throw.
 */
export function migrateWorkflow(text: string): MigratedWorkflow {
  const source = readQuickly(text);
  const at = (path: Path) => placeOfValue(source, path);
  if (source.problems.length > 0) return {text: undefined, problems: source.problems, notes: []};
  const {value} = source;
  const tasks = isMap(value) ? value.tasks : undefined;
  if (!isMap(value) || !Array.isArray(tasks))
    return refused(
      at([]),
      'expected a workflow with "tasks:", as agent-worker v1 had them',
      'a file with "kickoff:" needs no conversion: agentdir run FILE',
    );
  if (value.kickoff !== undefined || value.setup !== undefined)
    return refused(
      at(['tasks']),
      'expected either "tasks:" or "kickoff:" and "setup:", found both',
      'remove what is not needed, then run the command again',
    );
  const steps: Steps = {setup: [], messages: []};
  const problems = tasks.flatMap((task, i) =>
    readStep(task, steps, Object.keys(isMap(value.agents) ? value.agents : {}), at(['tasks', i])),
  );
  if (problems.length === 0 && steps.messages.length === 0)
    return refused(at(['tasks']), 'expected at least one step with "send:"', 'add one: - {send: TEXT, to: AGENT}');
  if (problems.length > 0) return {text: undefined, problems, notes: []};
  const notes: string[] = [];
  let result = editYaml(text, {remove: ['tasks']});
  if (!Object.hasOwn(value, 'context')) {
    result = editYaml(result, {set: ['context'], to: {channel: null, document: null}});
    notes.push('added "context:": agents now hand over to each other in a channel');
  }
  if (steps.setup.length > 0) result = editYaml(result, {set: ['setup'], to: steps.setup});
  result = editYaml(result, {set: ['kickoff'], to: kickoffOf(steps)});
  if (steps.messages.length > 1)
    notes.push('the order of the messages is a request in the kickoff; whether it is kept is up to the agents');
  return {text: result, problems: [], notes};
}

function refused(place: Place, message: string, hint: string): MigratedWorkflow {
  return {text: undefined, problems: [problem('BAD_VALUE', place, message, hint)], notes: []};
}

/** Read one step into `steps`. */
function readStep(step: unknown, steps: Steps, agents: readonly string[], place: Place): Problem[] {
  const wrong = (message: string, hint: string) => [problem('BAD_VALUE', place, message, hint)];
  if (!isMap(step)) return wrong('expected a step with "shell:" or "send:"', 'write - {shell: COMMAND, as: NAME}');
  const {shell, send, to, as, ...rest} = step;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined)
    return wrong(
      `expected only shell, send, to and as in a step, found "${unknown}"`,
      'leave it out, or say in words what is meant: the agents read the kickoff',
    );
  if (as !== undefined && typeof as !== 'string')
    return wrong('expected a name after "as:"', 'write for example as: diff');
  if (typeof shell === 'string' && send === undefined) {
    const answers = new Map(steps.messages.map(message => [message.as, message]));
    const used = variablesIn(shell).find(name => answers.has(name));
    if (used !== undefined)
      return wrong(
        `expected a command that needs no answer of an agent, got \${{ ${used} }}, the answer of ${answers.get(used)?.to}`,
        'remove the step, and let an agent run it: tools: [execute_command]',
      );
    steps.setup.push({shell, ...(as !== undefined && {as})});
    return [];
  }
  if (typeof send !== 'string' || shell !== undefined)
    return wrong('expected either "shell:" or "send:" in a step', 'write - {send: TEXT, to: AGENT}');
  if (typeof to !== 'string' || !agents.includes(to)) {
    const near = typeof to === 'string' ? nearest(to, agents) : undefined;
    return wrong(
      `expected an agent after "to:", got ${JSON.stringify(to ?? null)}`,
      near
        ? `did you mean ${near}?`
        : agents.length > 0
          ? `the agents are ${agents.join(', ')}`
          : 'the file names none: list them under "agents:"',
    );
  }
  steps.messages.push({to, text: send.trim(), as});
  return [];
}

/** Only the first agent is mentioned; the names of the others are code, which wakes nobody. */
function kickoffOf({messages}: Steps): string {
  const answers = new Map(messages.map(({as, to}) => [as, to]));
  const shown = new Set<string>();
  const filled = (text: string) =>
    text.replace(/\$\{\{([^{}]{0,200})\}\}/g, (whole, given: string) => {
      const name = given.trim();
      const from = answers.get(name);
      if (from !== undefined) return `the answer of \`${from}\``;
      if (shown.has(name)) return `the ${name} above`;
      shown.add(name);
      return whole;
    });
  const parts = messages.map(({to, text}, i) => {
    const next = messages[i + 1];
    const handOver =
      next === undefined
        ? ''
        : next.to === to
          ? 'Then go on with what follows.'
          : `When you are done, write your answer to the channel and mention \`${next.to}\` there with an @, who goes on with what follows.`;
    const head = i === 0 ? `@${to} ` : next !== undefined || to !== messages[i - 1]?.to ? `\`${to}\`: ` : '';
    return [`${head}${filled(text)}`, handOver].filter(Boolean).join('\n\n');
  });
  return `${parts.join('\n\n')}\n`;
}
