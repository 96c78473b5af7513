import {Cron} from 'croner';
import {z} from 'zod';
import {type Problem, refuseErrors} from './common/diagnostic.ts';
import {notYet} from './common/no-effect.ts';
import {compactionSchema} from './compaction.ts';
import {mailSchema, slackSchema, webhooksSchema} from './connector-settings.ts';
import {refuse, validate} from './yaml/validate.ts';
import {duration, id} from './yaml/value-schemas.ts';
import {editYaml} from './yaml/yaml-edit.ts';
import {readQuickly} from './yaml/yaml-quick.ts';
import {type Path, placeOfValue, type YamlSource} from './yaml/yaml-source.ts';

function isCron(text: string): boolean {
  try {
    const cron = new Cron(text, {paused: true, timezone: 'UTC'});
    // A date is not a schedule, nor is a day that no month has.
    return cron.getOnce() === null && cron.nextRun(new Date(0)) !== null;
  } catch {
    return false;
  }
}

const cron = z
  .string()
  .refine(
    isCron,
    refuse(
      'BAD_CRON',
      'expected a cron expression such as "0 9 * * 1-5"',
      'five fields for a time that comes: minute 0-59, hour 0-23, day 1-31, month 1-12, weekday 0-7',
    ),
  );

function isZone(text: string): boolean {
  try {
    new Intl.DateTimeFormat('en', {timeZone: text});
    return true;
  } catch {
    return false;
  }
}

const timezone = z
  .string()
  .refine(
    isZone,
    refuse('BAD_VALUE', 'expected a time zone such as Europe/Berlin or UTC', 'see: timedatectl list-timezones'),
  )
  .describe("In which the cron expression is read; the machine's own if left out.");

const inboxRoute = z.looseObject({
  files: z.string().min(1).describe('A glob over names of files in inbox/, such as slack-*.jsonl.'),
  to: z
    .string()
    .min(1)
    .optional()
    .describe("The agent that gets their lines; if left out, the record's own to, else default_agent."),
  key: z
    .string()
    .min(1)
    .optional()
    .describe('The key of a record, such as event_id or event.id, whose value is never delivered twice.'),
  thread: z
    .string()
    .min(1)
    .optional()
    .describe('The key of a record that names its thread; thread, thread_ts or thread_id if left out.'),
});

export type InboxRoute = z.infer<typeof inboxRoute>;

const schedule = z
  .looseObject({
    cron,
    to: z.string().min(1).optional().describe('The agent that gets the message.'),
    message: z.string().min(1).optional(),
    workflow: z
      .string()
      .regex(
        /^(?!(?:.*\/)?\.\.(?:\/|$)|\/|workspaces\/)[^\0]+$/,
        refuse(
          'BAD_VALUE',
          'expected the name of a workflow in workflows/, or the path of a file in the home',
          'write for example workflow: standup',
        ),
      )
      .optional()
      .describe('Instead of a message: a workflow that is started each time, as an instance of its own.'),
    params: z
      .record(id, z.union([z.string(), z.number(), z.boolean()]))
      .optional()
      .describe('Parameters of the workflow.'),
    missed: z
      .enum(['skip', 'once', 'all'])
      .optional()
      .describe('What becomes of times at which no daemon ran; once if left out.'),
    timezone: timezone.optional(),
  })
  .refine(
    ({to, message, workflow}) =>
      workflow === undefined ? to !== undefined && message !== undefined : to === undefined,
    refuse(
      'MISSING_KEY',
      'expected either "to" and "message", or "workflow"',
      'write {cron: …, to: AGENT, message: TEXT} or {cron: …, workflow: NAME}',
    ),
  )
  .meta({anyOf: [{required: ['to', 'message']}, {required: ['workflow']}]});

export type ScheduleSetting = z.infer<typeof schedule>;
/** A schedule that starts a workflow. */
export type WorkflowSchedule = ScheduleSetting & {workflow: string};

export function startsWorkflow(setting: ScheduleSetting): setting is WorkflowSchedule {
  return setting.workflow !== undefined;
}

/** Whom a schedule concerns, in words: an agent as written, or `workflow NAME`. */
export function scheduleTarget({to, workflow}: ScheduleSetting): string {
  return workflow === undefined ? (to ?? '') : `workflow ${workflow}`;
}

const price = z
  .looseObject({input: z.number().min(0), output: z.number().min(0)})
  .describe('US dollars per million tokens.');

export const notifyEvents = ['approval', 'failed', 'idle'] as const;

const notifyOn = z
  .union([z.enum(notifyEvents), z.array(z.enum(notifyEvents))])
  .describe('approval: a request waits for you. failed: a session ended in an error. idle: all work is done.');

const notification = z.union([
  z.looseObject({
    on: notifyOn.optional(),
    command: z
      .string()
      .min(1)
      .describe('A shell command of yours, run in the home; it gets the event as JSON on stdin.'),
  }),
  z.looseObject({on: notifyOn.optional(), desktop: z.boolean().describe('A notification of the desktop.')}),
]);

/** One way to tell a person. Without `on`, of all events. */
export type NotifySetting = z.infer<typeof notification>;

export const settingsSchema = z
  .looseObject({
    format: z.literal(1).optional(),
    name: id.optional().describe('How other homes address this one: @NAME/agent.'),
    default_agent: z.string().min(1).optional(),
    people: z
      .array(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/))
      .nullable()
      .optional()
      .describe('Persons besides @human who have tasks: @NAME in a task file.'),
    nats: z
      .looseObject({server: z.string().min(1).optional()})
      .nullable()
      .optional(),
    default_model: z
      .string()
      .min(1)
      .optional()
      .describe(
        'auto: the first model or provider whose key is set, else the built-in playbook; or any model, such as anthropic/claude-sonnet-4-5.',
      ),
    models: z
      .array(
        z.looseObject({
          id: z
            .string()
            .min(1)
            .describe('As its server knows it; or provider/model, for a model of a built-in provider.'),
          nickname: z.string().min(1).optional(),
          base_url: z.string().min(1).optional(),
          api_key_env: z
            .string()
            .min(1)
            .optional()
            .describe('The environment variable with the key; never the key itself.'),
          api_env_var: z.string().min(1).optional().describe('The same as api_key_env.'),
          context_tokens: z
            .int()
            .min(1)
            .optional()
            .describe('The size of its context window. Sessions are compacted before a request reaches it.'),
          price: price.optional(),
          timeout_seconds: z
            .number()
            .min(1)
            .max(300)
            .optional()
            .describe('How long its server may say nothing, before and within an answer; 120 if left out.'),
        }),
      )
      .nullable()
      .optional(),
    concurrency: z.int().min(1).optional(),
    sandbox: z.enum(['auto', 'require', 'off']).optional(),
    limits: z
      .looseObject({
        per_day: z
          .looseObject({
            cost_usd: z.number().min(0).optional(),
            tokens: z.int().min(0).optional(),
            turns: z.int().min(0).optional(),
          })
          .optional(),
        max_turns: z
          .int()
          .min(1)
          .optional()
          .describe('Model calls for one piece of work, where the template says nothing; 100 if left out.'),
        per_cause: z
          .looseObject({
            sessions: z.int().min(1).optional().describe('Sessions that may begin; 100 if left out.'),
            tasks: z.int().min(1).optional().describe('Tasks that agents may create; 100 if left out.'),
            messages: z
              .int()
              .min(1)
              .optional()
              .describe('Messages and notices between agents, deliveries of tasks included; 300 if left out.'),
          })
          .optional()
          .describe('What may follow from one message, task or schedule, directly or not, before a person is asked.'),
        agent_messages: z
          .int()
          .min(0)
          .optional()
          .describe(
            'So many messages between agents may lead to one another before a person is asked; 40 if left out.',
          ),
        open_requests: z
          .int()
          .min(1)
          .optional()
          .describe(
            'Requests that may wait for a person at a time; then agents that want to ask pause. 200 if left out.',
          ),
        output_mb: z
          .number()
          .min(1)
          .optional()
          .describe('Megabytes of long outputs kept in .output/ of a workspace, and in .untrusted/; 200 if left out.'),
        commands: z
          .looseObject({
            memory_mb: z
              .int()
              .min(16)
              .optional()
              .describe('Megabytes of memory; half of the machine, at most 4096, if left out.'),
            processes: z.int().min(8).optional().describe('Processes and threads; 1024 if left out.'),
            disk_mb: z
              .int()
              .min(1)
              .optional()
              .describe('Megabytes that it may write to the workspace; 10240 if left out.'),
          })
          .optional()
          .describe('What a command in the sandbox may use.'),
        calls_per_answer: z
          .int()
          .min(1)
          .max(1000)
          .optional()
          .describe('Calls of one answer that are run; the others get a result that says so. 64 if left out.'),
      })
      .nullable()
      .optional(),
    inbox: z
      .looseObject({routes: z.array(inboxRoute).nullable().optional()})
      .nullable()
      .optional(),
    approvals: z
      .looseObject({expire_after: duration.nullable().optional(), signers: z.string().nullable().optional()})
      .nullable()
      .optional(),
    search: z
      .looseObject({
        embeddings: z
          .union([
            z.enum(['off', 'local']),
            z.looseObject({
              base_url: z
                .string()
                .regex(/^https?:\/\//)
                .describe('Of a server that speaks the OpenAI protocol: what comes before /embeddings.'),
              model: z.string().min(1),
              api_key_env: z
                .string()
                .min(1)
                .optional()
                .describe('The environment variable with the key; never the key itself.'),
            }),
          ])
          .optional()
          .describe('How search_files finds by meaning: not at all, by a model on this machine, or by a server.'),
      })
      .nullable()
      .optional(),
    compaction: compactionSchema.nullable().optional(),
    schedules: z.array(schedule).nullable().optional(),
    notify: z
      .union([z.array(notification), notification])
      .nullable()
      .optional()
      .describe('What happens when somebody should look.'),
    webhooks: webhooksSchema.describe('What `agentdir webhook` receives.'),
    slack: slackSchema,
    mail: mailSchema,
  })
  .meta({title: 'Agentdir settings', description: 'agentdir.yaml: the marker of a home, and its settings'});

export type Settings = z.infer<typeof settingsSchema>;

export interface SettingsFile {
  text: string;
  value: Settings | undefined;
  problems: Problem[];
  source: YamlSource;
}

/** Must not throw. An empty file means all defaults. */
export function parseSettings(text: string): SettingsFile {
  const source = readQuickly(text);
  if (source.problems.length === 0 && (source.value === null || source.value === undefined))
    return {text, value: {}, problems: [], source};
  return {text, ...validate(settingsSchema, source, 'write "format: 1"', notYet.settings), source};
}

export function settingPlace(file: SettingsFile, path: Path): {line: number; column: number} {
  return placeOfValue(file.source, path);
}

export function setSetting(text: string, path: Path, value: unknown): string {
  refuseErrors(parseSettings(text).problems);
  return editYaml(text, {set: path, to: value});
}

export function stringifySettings(file: SettingsFile): string {
  return file.text;
}
