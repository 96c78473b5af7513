import {z} from 'zod';
import {refuse} from './validate.ts';
import {id, time} from './value-schemas.ts';

export const sessionStatuses = ['active', 'waiting', 'sleeping', 'paused', 'completed', 'error'] as const;
export const roles = ['user', 'assistant', 'tool_result', 'system'] as const;

export const callSchema = z.looseObject({
  id: z.string().min(1).describe('The id the model gave the call; its result names it.'),
  type: z.literal('function').optional(),
  function: z.looseObject({
    name: z.string().min(1),
    arguments: z.string().describe('JSON, as the model wrote it.'),
  }),
  approval: id.optional().describe('The approval it waits for.'),
  started: time
    .optional()
    .describe('Set before it runs, never removed: a call started without a result is not run again.'),
  run: z.string().optional().describe('The run of the daemon that started it.'),
});

export const usageSchema = z.looseObject({
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
    content: z.string().nullable().optional(),
    model: z.string().optional(),
    usage: usageSchema.optional(),
    cut: z.boolean().optional().describe('The server ended the answer at its length limit.'),
    tool_calls: z.array(callSchema).optional(),
    tool_call_id: z.string().optional(),
    delivery: z.string().optional().describe('The id of the delivery that brought it; each is delivered once.'),
    untrusted: z.boolean().optional(),
  })
  .superRefine((message, context) => {
    const missing = (key: string) =>
      context.addIssue({code: 'custom', path: [key], ...message_(needs(key, message.role))});
    if (typeof message.content !== 'string' && message.role !== 'assistant') missing('content');
    if (message.role === 'tool_result' && message.tool_call_id === undefined) missing('tool_call_id');
    if (message.role === 'assistant' && typeof message.content !== 'string' && !message.tool_calls?.length)
      missing('content');
  })
  .meta({
    allOf: [
      {
        if: {properties: {role: {enum: ['user', 'system']}}, required: ['role']},
        then: {required: ['content'], properties: {content: {type: 'string'}}},
      },
      {
        if: {properties: {role: {const: 'tool_result'}}, required: ['role']},
        then: {required: ['content', 'tool_call_id']},
      },
    ],
  });

function message_({error, params}: ReturnType<typeof refuse>): {message: string; params: {code: string; hint: string}} {
  return {message: error, params};
}

const headerShape = {
  session_id: id.optional().describe('The file name without .session.yaml.'),
  agent_id: z.string().min(1).describe('The template that answers.'),
  agent_type: z.string().optional(),
  model: z.string().optional(),
  system_prompt: z.string().optional(),
  created: time.optional(),
  updated: time.optional().describe('Written by the daemon; names the version an editor started from.'),
  status: z.enum(sessionStatuses).optional().describe('A person may set paused, completed, or active again.'),
  error: z
    .union([z.string(), z.looseObject({})])
    .optional()
    .describe('Of status error: what is wrong, and what to do.'),
  waiting_for: id.optional().describe('The approval that a waiting session needs to go on; written by the daemon.'),
  shared: z.boolean().optional().describe('Deliveries to the agent come here.'),
  segments: z.array(z.string()).optional().describe('Older messages, moved to these files, in order.'),
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
export type SessionStatus = (typeof sessionStatuses)[number];
