import type {Command} from 'commander';
import {about} from './about.ts';
import type {CommandContext} from './command-context.ts';

/** models: the models that can be asked. */
export function addModelsCommand(program: Command, {home, json, finish}: CommandContext): void {
  about(
    program
      .command('models')
      .summary('list models, and why some are not usable')
      .description(
        'List the models of agentdir.yaml and the built-in providers: which are usable, why others are not, and prices.',
      )
      .action(async () => finish(await (await import('./models.ts')).modelsCommand({home: home(), json: json()}))),
    {
      examples: [
        ['agentdir models', 'the one with * is used by agents that name no model'],
        ["agentdir models --json | jq -r '.[] | select(.usable).name'", 'the names of usable models'],
      ],
      exits: {4: 'agentdir.yaml has errors'},
      json: 'value',
    },
  );
}

/** agents, and its list, add and rm. Returns the group, so that other files can add to it. */
export function addAgentsCommands(program: Command, {home, json, finish}: CommandContext): Command {
  const load = () => import('./agents.ts');
  const agents = about(
    program
      .command('agents')
      .summary('list, add and remove agents')
      .description(
        'List agents and what they are doing, add one from a template, or remove it. To see definitions: agentdir agent.',
      ),
    {
      examples: [
        ['agentdir agents', 'all agents, and what they are doing'],
        ['agentdir agents add impl-1 --template coder', 'an agent for one piece of work'],
      ],
    },
  );
  about(
    agents
      .command('list [name]', {isDefault: true})
      .summary('list agents with status, model and current task')
      .description(
        'List agents with status, model and current task. Ephemeral agents that are done are hidden. This is the default of `agentdir agents`.',
      )
      .option('--all', 'also ephemeral agents that are done')
      .action(async (name: string | undefined, options: {all?: boolean}) =>
        finish((await load()).agentsListCommand({home: home(), name, all: options.all === true, json: json()})),
      ),
    {
      examples: [
        ['agentdir agents', 'all agents'],
        ['agentdir agents list --all', 'also those that are done'],
        ["agentdir agents --json | jq -r '.[].name'", 'the names'],
      ],
      json: 'value',
      names: {name: 'agent'},
    },
  );
  about(
    agents
      .command('add <name>')
      .summary('add an agent made from a template')
      .description(
        'Add an agent: templates/spawned/NAME.agent.yaml, made from a template. Without --persistent it is ephemeral: lists hide it once its work is done.',
      )
      .option('--template <template>', 'the agent to make it from (default: general-purpose)')
      .option('--model <model>', 'its model: provider/model, or a name of agentdir.yaml')
      .option('--prompt <text>', 'its system prompt, instead of that of the template')
      .option('--tool <tool>', 'one of the tools of the template; repeatable (default: all of them)', several)
      .option('--persistent', 'keep it in lists')
      .action(async (name: string, options: AddFlags) =>
        finish(
          await (await load()).agentsAddCommand({
            ...{home: home(), name, template: options.template, model: options.model, prompt: options.prompt},
            ...{tools: options.tool, persistent: options.persistent === true, json: json()},
          }),
        ),
      ),
    {
      examples: [
        ['agentdir agents add impl-1 --template coder --model openai/gpt-4o', 'with a model of its own'],
        ['agentdir agents add reviewer --persistent --tool read_file --tool grep', 'a permanent agent that only reads'],
      ],
      exits: {4: 'the template has errors'},
      json: 'value',
      names: {template: 'agent'},
    },
  );
  about(
    agents
      .command('rm <name>')
      .summary('remove an added agent')
      .description('Remove an agent of templates/spawned/. Its sessions and its workspace stay.')
      .option('--force', 'even if it has work')
      .action(async (name: string, options: {force?: boolean}) =>
        finish((await load()).agentsRemoveCommand({home: home(), name, force: options.force === true, json: json()})),
      ),
    {
      examples: [
        ['agentdir agents rm impl-1', 'its file goes; git has it'],
        ['agentdir agents rm impl-1 --force', 'even if it is at work'],
      ],
      exits: {1: 'it has work, or its template is your own'},
      json: 'value',
      names: {name: 'agent'},
    },
  );
  return agents;
}

interface AddFlags {
  template?: string;
  model?: string;
  prompt?: string;
  tool?: string[];
  persistent?: boolean;
}

function several(value: string, before: string[] = []): string[] {
  return [...before, value];
}
