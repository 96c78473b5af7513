import {z} from 'zod';
import {flagArgument, nameArgument, type ToolDefinition, textArgument} from './definition.ts';

/** Work for other agents, and agents for it. Sessions that do a task for another agent have neither `task` nor `agent_spawn`. */
export const delegationTools = {
  task: {
    effect: 'deliver',
    default: 'ask',
    description:
      'Give a piece of work to an agent, which does it in a fresh session, and get back what came of it. Several calls in one answer run side by side. Use it for work that is separate from yours: a search through much text, a part that another agent is made for.',
    arguments: z.strictObject({
      agent_type: nameArgument('The agent: a name of list_agents.'),
      description: nameArgument(
        'The whole assignment: what to do, what is known, which files matter, and what to report. The agent sees nothing else.',
      ),
      estimated_complexity: z.enum(['low', 'medium', 'high']).describe('How much work it is.').optional(),
      wait: flagArgument('false: go on at once; the result comes later as a message.').optional(),
    }),
    result: {
      session: 'The session that does the task.',
      status: 'completed, failed, stopped, interrupted or rejected; running if you went on without the result.',
      'summary?': 'What the agent says came of it.',
      'artifacts?': 'Files of its workspace that it created or changed, then those that it read.',
      'tool_calls?, tokens_used?, cost_usd?, duration_seconds?':
        'What it took; without `cost_usd` the price is unknown.',
      'untrusted?, sources?': 'The agent has read what came from outside, and what that was.',
    },
  },
  agent_spawn: {
    effect: 'deliver',
    default: 'ask',
    description:
      'Add an agent, made from another one, that can be sent messages and given tasks. It is for one piece of work unless it is persistent.',
    arguments: z.strictObject({
      name: nameArgument('Its id.'),
      template: textArgument('The agent that it is made from; general-purpose if left out.').optional(),
      provider: textArgument('The provider of its model, such as anthropic.').optional(),
      model: textArgument('Its model; that of the template if left out.').optional(),
      system_prompt: textArgument('What it is for and how it works; that of the template if left out.').optional(),
      tools: z.array(z.string()).describe('Its tools, all of them tools of the template.').optional(),
      persistent: flagArgument('Keep it in lists when its work is done.').optional(),
    }),
    result: {name: 'Its id.', file: 'Its definition.'},
  },
  agent_list: {
    effect: 'read',
    default: 'allow',
    description: 'List the agents of this home: what each does now, with which model, and whether it stays.',
    arguments: z.strictObject({}),
    result: {
      agents: '`name`, `status`, `model`, `kind` (persistent or ephemeral), and the current `task` of each, if any.',
      'left_out?': 'How many more there are.',
    },
  },
} as const satisfies Record<string, ToolDefinition>;
