import {z} from 'zod';
import {refuse} from '../yaml/validate.ts';
import {id, time} from '../yaml/value-schemas.ts';
import {sessionStatuses} from './session-status.ts';

/** Statuses of a task that ended. A rejected task has no session; the status stands in the result of the call. */
export const taskStatuses = ['completed', 'failed', 'stopped', 'interrupted', 'rejected'] as const;

export type {SessionStatus} from './session-status.ts';
export const roles = ['user', 'assistant', 'tool_result', 'system'] as const;

/** Longer JSON is refused: aliases could make a small file expand to any size. */
const MAX_JSON_LENGTH = 20_000_000;

/**
 * A map or a list as the JSON text it means; anything else unchanged. Other systems write contents and arguments as YAML.
 *
 *     jsonOf({path: 'a.md'}) // '{"path":"a.md"}'
 */
export function jsonOf(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  let length = 0;
  try {
    return JSON.stringify(value, (key, part: unknown) => {
      length += key.length + (typeof part === 'string' ? part.length : 1);
      if (length > MAX_JSON_LENGTH) throw new RangeError('too long');
      return part;
    });
  } catch (error) {
    if (error instanceof RangeError) return value;
    throw error;
  }
}

const textOrJson = z.preprocess(jsonOf, z.string());
/** The types of `textOrJson` in JSON Schema. */
const textOrJsonTypes = ['string', 'object', 'array'] as const;

export const callSchema = z.looseObject({
  id: z.string().min(1).describe('The id the model gave the call; its result names it.'),
  type: z.literal('function').optional(),
  function: z.looseObject({
    name: z.string().min(1),
    arguments: textOrJson.meta({
      type: textOrJsonTypes,
      description: 'JSON, as the model wrote it; keys and values mean the same.',
    }),
  }),
  approval: id.optional().describe('The approval it waits for.'),
  started: time
    .optional()
    .describe('Set before it runs, never removed: a call started without a result is not run again.'),
  run: z.string().optional().describe('The run of the daemon that started it.'),
  where: z.string().optional().describe('host: it was started outside the sandbox.'),
  child: id
    .optional()
    .describe('Of a call of the tool task: the session that does the task. Set together with started, never removed.'),
});

const usageSchema = z.looseObject({
  input_tokens: z.int().min(0).optional(),
  output_tokens: z.int().min(0).optional(),
  cost_usd: z.number().min(0).optional(),
  estimated: z.boolean().optional().describe('The server did not say; counted by characters.'),
});

const needs = (key: string, role: string) =>
  refuse(
    'MISSING_KEY',
    `expected the key "${key}" in ${role === 'assistant' ? 'an' : 'a'} ${role} message, found none`,
    `add "${key}:"`,
  );

export const messageSchema = z
  .looseObject({
    timestamp: time.optional(),
    role: z.enum(roles),
    from: z.string().optional().describe('Of a user message: human, @agent, inbox/FILE#LINE, task/ID or system.'),
    content: textOrJson
      .meta({type: textOrJsonTypes, description: 'Text; keys and values are read as the JSON they mean.'})
      .nullable()
      .optional(),
    model: z.string().optional(),
    usage: usageSchema.optional(),
    cut: z.boolean().optional().describe('The server ended the answer at its length limit.'),
    tool_calls: z.array(callSchema).optional(),
    tool_call_id: z.string().optional(),
    delivery: z.string().optional().describe('The id of the delivery that brought it; each is delivered once.'),
    untrusted: z.boolean().optional(),
    taint: z
      .array(z.string())
      .optional()
      .describe('Where the words of whoever sent it may come from: what they had read from outside.'),
    in_reply_to: z
      .string()
      .optional()
      .describe(
        'The delivery that it answers. It came by itself when its sender ended the turn, and is not answered by itself.',
      ),
    reply_to: id.optional().describe('The session it was sent from: an answer to its agent goes there.'),
    priority: z.enum(['normal', 'high']).optional().describe('high: it goes before others that wait.'),
    chain: z
      .string()
      .optional()
      .describe(
        'Of a message between agents: its cause, the session and time of the message that all of it began with.',
      ),
    hops: z.int().min(1).optional().describe('How many messages between agents led to it, itself included.'),
    pin: z.boolean().optional().describe('true: the model always sees this message, also after compaction.'),
  })
  .superRefine((message, context) => {
    const missing = (key: string) => {
      const {error, params} = needs(key, message.role);
      context.addIssue({code: 'custom', path: [key], message: error, params});
    };
    if (typeof message.content !== 'string' && message.role !== 'assistant') missing('content');
    if (message.role === 'tool_result' && message.tool_call_id === undefined) missing('tool_call_id');
    if (message.role === 'assistant' && typeof message.content !== 'string' && !message.tool_calls?.length)
      missing('content');
  })
  .meta({
    allOf: [
      {
        if: {properties: {role: {enum: ['user', 'system']}}, required: ['role']},
        then: {required: ['content'], properties: {content: {type: textOrJsonTypes}}},
      },
      {
        if: {properties: {role: {const: 'tool_result'}}, required: ['role']},
        then: {required: ['content', 'tool_call_id']},
      },
    ],
  });

/** How a delegated task ended. Written once, by the daemon; all but the summary is computed from the session. */
const taskResultSchema = z.looseObject({
  status: z.enum(taskStatuses),
  summary: z.string(),
  artifacts: z
    .array(z.string())
    .describe('Files of the workspace that were created or changed, then those that were read.'),
  tool_calls: z.int().min(0),
  tokens_used: z.int().min(0),
  cost_usd: z.number().min(0).optional().describe('Missing if the price of a model is unknown.'),
  duration_seconds: z.number().min(0),
  error: z.string().optional(),
});

const contextVersionSchema = z.looseObject({
  version: z.int().min(1),
  reason: z.string().describe('original: all messages are sent; compacted: a checkpoint stands for the older ones.'),
  because: z
    .string()
    .optional()
    .describe('Why it was made: size, too long (said the server), asked (by a person), or inbox (many lines).'),
  created: time.optional(),
  from: z.int().min(1).optional().describe('The version it was made from, to which --undo returns.'),
  upto: z
    .string()
    .regex(/^msg-\d+$/, 'expected msg- and the number of a message as agentdir show prints it')
    .optional()
    .describe('The last message that the checkpoint stands for: msg-0147.'),
  file: z.string().min(1).optional().describe('The checkpoint: Markdown that a person may edit.'),
  tokens_before: z.int().min(0).optional().describe('Estimated size of the next request before.'),
  tokens_after: z.int().min(0).optional(),
  characters_per_token: z.number().positive().optional().describe('As measured when it was made.'),
  model: z.string().optional().describe('The model that wrote the checkpoint.'),
  usage: usageSchema.optional().describe('What writing the checkpoint used.'),
});

const contextSchema = z
  .looseObject({
    version: z.int().min(1).describe('The version that the model is sent. A person may set it back.'),
    versions: z.array(contextVersionSchema).optional(),
    wanted: z
      .looseObject({keep: z.int().min(0).optional()})
      .optional()
      .describe('A person wants the session compacted now: agentdir compact. Removed by the daemon.'),
    failed: z.string().optional().describe('Why the last compaction that a person wanted was not made.'),
  })
  .superRefine(({version, versions = []}, context) => {
    const found = versions.find(each => each.version === version);
    const known = [...new Set([1, ...versions.map(each => each.version)])].sort((a, b) => a - b);
    if (!found && version !== 1)
      context.addIssue({
        code: 'custom',
        path: ['version'],
        message: `expected a version of the list, ${known.join(' or ')}`,
        params: {
          code: 'UNKNOWN_VERSION',
          hint: `write "version: ${known.join('" or "version: ')}"; version 1 sends all messages`,
        },
      });
    const at = found ? versions.indexOf(found) : -1;
    for (const key of version === 1 ? [] : (['upto', 'file'] as const))
      if (found && found[key] === undefined) {
        const {error, params} = refuse(
          'MISSING_KEY',
          `expected the key "${key}" in version ${version}, found none`,
          'restore it: git log -p; or set "version: 1"',
        );
        context.addIssue({code: 'custom', path: ['versions', at, key], message: error, params});
      }
  });

const headerShape = {
  session_id: id.optional().describe('The file name without .session.yaml.'),
  agent_id: z.string().min(1).describe('The template that answers.'),
  agent_type: z.string().optional(),
  model: z.string().optional(),
  system_prompt: z.string().optional(),
  keeps: z
    .array(z.enum(['model', 'system_prompt']))
    .optional()
    .describe('Keys that the session has of its own, whatever the template has.'),
  created: time.optional(),
  updated: time.optional().describe('Written by the daemon; names the version an editor started from.'),
  status: z.enum(sessionStatuses).optional().describe('A person may set paused, completed, or active again.'),
  error: z
    .union([z.string(), z.looseObject({})])
    .optional()
    .describe('Of status error: what is wrong, and what to do.'),
  cancelled: time
    .optional()
    .describe(
      'Of a sleeping session: a person cancelled the turn about the message of this time. A newer one wakes it.',
    ),
  waiting_for: id
    .optional()
    .describe(
      'What a waiting session needs to continue: the approval of a higher limit, or the end of a session that does a task for it. Written by the daemon.',
    ),
  tainted: z
    .array(z.string())
    .optional()
    .describe('Where text from outside came into the session; written by the daemon, and for good.'),
  shared: z.boolean().optional().describe('Deliveries to the agent come here.'),
  task: id.optional().describe('The task that the session was made for.'),
  kind: z.enum(['task']).optional().describe('task: the session is for one request, and ends with a result.'),
  parent: z
    .looseObject({session: id, call: z.string()})
    .optional()
    .describe('The session whose call of the tool task this session is for; written by the daemon.'),
  result: taskResultSchema.optional().describe('How the task of the session ended; written by the daemon.'),
  result_due: z.boolean().optional().describe('The parent does not have the result yet; written by the daemon.'),
  thread: z.string().optional().describe('The thread of an inbox that the session was made for.'),
  ephemeral: z.boolean().optional().describe('Its agent was made for that task, and is completed with it.'),
  mentions_due: z
    .array(z.looseObject({to: z.string(), answer: z.string(), in_reply_to: z.string().optional()}))
    .optional()
    .describe('Agents that an answer names and that are still to be woken; written by the daemon.'),
  tasks_due: z
    .array(z.looseObject({task: z.string(), answer: z.string(), as: z.enum(['completed', 'blocked', 'stalled'])}))
    .optional()
    .describe(
      'Tasks that an answer ended, or left standing, and whose files do not say so yet; written by the daemon.',
    ),
  segments: z.array(z.string()).optional().describe('Older messages, moved to these files, in order.'),
  context: contextSchema
    .optional()
    .describe('Which checkpoint stands for the older messages when the model is asked. Messages are never changed.'),
  forked_from: z
    .looseObject({session: z.string(), commit: z.string().optional(), message: z.int().min(0).optional()})
    .optional()
    .describe('The session that it began as: as of this commit, up to this message. Written by agentdir fork.'),
  metadata: z.looseObject({}).nullable().optional(),
};

export const headerSchema = z.looseObject(headerShape);
export const sessionSchema = z
  .looseObject({...headerShape, messages: z.array(messageSchema).nullable().optional()})
  .meta({
    title: 'Agentdir session',
    description: 'One conversation of one agent: sessions/<session_id>.session.yaml',
  });

export type SessionHeader = z.infer<typeof headerSchema>;
export type Message = z.infer<typeof messageSchema>;
export type Call = z.infer<typeof callSchema>;
export type ContextState = z.infer<typeof contextSchema>;
export type ContextVersion = z.infer<typeof contextVersionSchema>;
export type TaskResult = z.infer<typeof taskResultSchema>;
