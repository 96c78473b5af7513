import {z} from 'zod';
import type {Verdict} from '../files/rule.ts';

/** `read` may be repeated freely, `write` changes the home or the machine, `outside` leaves the home. */
export type ToolEffect = 'read' | 'write' | 'outside';

export interface ToolDefinition {
  effect: ToolEffect;
  /** For the model: what it does and when to use it. */
  description: string;
  arguments: z.ZodObject;
  /** The verdict where the policy has no rule for it. */
  default: Verdict;
  /** Of a tool that can run: the fields of a result, beside `success`. With a `?` those that are not always there. */
  result?: Readonly<Record<string, string>>;
}

const text = (what: string) => z.string().describe(what);
const name = (what: string) => z.string().min(1).describe(what);
const path = name('Path within the workspace, or under memory/ or tasks/.');
const ownPath = name('Path within the workspace.');
const count = (what: string) => z.number().int().positive().describe(what);
const flag = (what: string) => z.boolean().describe(what);
const reason = text('Why this is needed, in one sentence; the person who decides reads it.').optional();
const priority = z
  .string()
  .regex(/^([A-D]|high|medium|low)$/)
  .describe('A is most urgent; high, medium and low are A, B and C.');
const taskStates = ['pending', 'in_progress', 'completed', 'blocked', 'skipped'] as const;

const childTask = z.strictObject({
  title: name('What is to be done.'),
  assignee: text('Agent id, with or without @.').optional(),
  priority: priority.optional(),
  prompt: text('Instructions for the assignee.').optional(),
  description: text('Background.').optional(),
  depends_on: z.array(z.string()).describe('Ids of tasks that must be completed first.').optional(),
});

/** The one list of tools: what `check` knows, what a model is offered, and what the policy says of each. */
export const tools = {
  read_file: {
    effect: 'read',
    default: 'allow',
    description: 'Read a text file. Use offset and limit (lines) for long files.',
    arguments: z.strictObject({
      path,
      offset: count('First line, from 1.').optional(),
      limit: count('Most lines to return.').optional(),
    }),
    result: {
      path: 'As the tools take it.',
      content: 'The lines, as they are in the file.',
      first_line: 'Number of the first of them.',
      last_line: 'Number of the last.',
      'total_lines?': 'Lines of the file, unless it is large.',
      'file_bytes?': 'Size of a large file, whose lines are not counted.',
      'left_out?': 'Offset and limit of the lines that did not fit, and how to get them.',
      'note?': 'What to know about its text: another encoding than UTF-8.',
    },
  },
  list_directory: {
    effect: 'read',
    default: 'allow',
    description: 'List the files and folders of a directory, the workspace by default.',
    arguments: z.strictObject({path: path.optional(), recursive: flag('Also everything below.').optional()}),
    result: {
      path: 'As the tools take it.',
      entries: '`name` of each, with `/` at the end of a directory; `size` of files, `link` for links.',
      'incomplete?': 'Why not all is there, and what to do.',
    },
  },
  create_directory: {
    effect: 'write',
    default: 'ask',
    description: 'Create a directory in the workspace, with its parents.',
    arguments: z.strictObject({path: ownPath}),
    result: {
      path: 'As the tools take it.',
      created: 'False if it was there.',
    },
  },
  write_file: {
    effect: 'write',
    default: 'ask',
    description: 'Write a whole file in the workspace, replacing what it held.',
    arguments: z.strictObject({path: ownPath, content: text('The whole new content.')}),
    result: {
      path: 'As the tools take it.',
      created: 'False if it replaced a file.',
      bytes: 'Its size.',
    },
  },
  create_file: {
    effect: 'write',
    default: 'ask',
    description: 'Create a new file in the workspace. Fails if it exists.',
    arguments: z.strictObject({path: ownPath, content: text('The content.')}),
    result: {
      path: 'As the tools take it.',
      bytes: 'Its size.',
    },
  },
  edit_file: {
    effect: 'write',
    default: 'ask',
    description:
      'Replace one exact piece of text in a file of the workspace. `old` must occur once, unless `all` is true.',
    arguments: z.strictObject({
      path: ownPath,
      old: name('The text to replace, exactly as it is in the file.'),
      new: text('The text to put there.'),
      all: flag('Replace every occurrence.').optional(),
    }),
    result: {
      path: 'As the tools take it.',
      replaced: 'How many pieces.',
      lines: 'Where they stood.',
      bytes: 'The size of the file now.',
    },
  },
  glob: {
    effect: 'read',
    default: 'allow',
    description: 'Find files by name pattern, for example `src/**/*.ts`.',
    arguments: z.strictObject({pattern: name('A glob.'), path: path.optional()}),
    result: {
      files: 'Paths, by name.',
      'incomplete?': 'Why not all is there, and what to do.',
      'note?': 'If there are none: why that may be.',
    },
  },
  grep: {
    effect: 'read',
    default: 'allow',
    description:
      'Find lines that match a regular expression, with file and line number, as ripgrep does. Hidden files and what ignore files name are left out unless `path` names them.',
    arguments: z.strictObject({
      pattern: name('A regular expression, matched within a line. Escape . ( ) [ ] { } * + ? | ^ $ to find them.'),
      path: path.optional(),
      glob: text('Only these files: `*.{ts,js}`, `src/**`, or `!*.test.ts` for all others.').optional(),
      ignore_case: flag('Upper and lower case are the same.').optional(),
      context: z.number().int().min(0).describe('Lines to show around each match, 20 at most.').optional(),
      limit: count('Most matches to return: 200 unless given, 2000 at most.').optional(),
    }),
    result: {
      matches: 'Lines that match.',
      files: 'Files that have one.',
      content:
        '`path:line:text` of each, `path-line-text` of those around it, as ripgrep prints them. Of long lines the part around the match.',
      'incomplete?': 'Why not all is there, and what to do.',
      'skipped?': 'Files that were not searched: too large, not readable, or binary.',
      'note?':
        'An argument that was too large; if there are no matches, what ignore files, hidden names or the glob left out.',
    },
  },
  search_files: {
    effect: 'read',
    default: 'allow',
    description: 'Find the passages nearest to a question in files and memory, best first.',
    arguments: z.strictObject({
      query: name('What to look for, in words.'),
      path: path.optional(),
      limit: count('Most passages to return.').optional(),
    }),
  },
  execute_command: {
    effect: 'write',
    // Only a fallback: commands are judged one by one (judge.ts).
    default: 'ask',
    description:
      'Run a command line in the workspace. Plain commands run at once if the policy allows them; anything else waits for a person.',
    arguments: z.strictObject({
      command: name('The command line. Prefer one plain command without expansions or redirects.').max(65_536),
      reason,
      timeout_seconds: count('Stop it after so many seconds.').optional(),
      sandbox: z.literal('host').describe('Ask to run outside the sandbox.').optional(),
      network: flag('Ask for network access.').optional(),
    }),
    result: {
      'exit_code, signal?': 'how it ended; other than 0 is `FAILED`, with all these fields',
      'stdout, stderr': 'what it printed; of more than 16 KB the beginning and the end',
      'stdout_file?, stderr_file?': 'where all of it is, if it was cut',
      duration_ms: 'how long it took',
      ran: '`sandbox`, `sandbox with network` or `host`, or several for a pipeline',
      'changed_files, changed_count?':
        'what it made, changed and removed in the workspace; at most 100, with the number of all',
      'note?': 'what else to know: no comparison of very large workspaces, set-user-id bits taken off',
    },
  },
  fetch: {
    effect: 'outside',
    default: 'ask',
    description: 'Fetch a web page or file over HTTP and return its text.',
    arguments: z.strictObject({url: name('An http or https address.'), reason}),
  },
  ask_human: {
    effect: 'read',
    default: 'allow',
    description: 'Ask the person a question and wait for the answer. Use it when a decision is not yours to make.',
    arguments: z.strictObject({
      question: name('The question, with what is needed to answer it.'),
      options: z.array(z.string()).describe('Answers to choose from.').optional(),
    }),
  },
  remember: {
    effect: 'write',
    default: 'ask',
    description: 'Add a lasting note to a file of the memory folder, for all agents.',
    arguments: z.strictObject({file: name('File in memory/, for example team-prefs.md.'), text: name('The note.')}),
  },
  create_task: {
    effect: 'write',
    default: 'allow',
    description:
      'Add a task, for yourself or for another agent. Give `title`, or `file` and `content` with raw task text.',
    arguments: z
      .strictObject({
        title: name('What is to be done.').optional(),
        file: text('Task file, for example tasks/redis-check.task.md.').optional(),
        content: text('Raw task text, instead of title.').optional(),
        assignee: text('Agent id, with or without @.').optional(),
        priority: priority.optional(),
        tags: z.array(z.string()).optional(),
        prompt: text('Instructions for the assignee.').optional(),
        description: text('Background.').optional(),
        depends_on: z.array(z.string()).describe('Ids of tasks that must be completed first.').optional(),
        parent: text('Id of the task this is a part of.').optional(),
        approval_required: flag('A person must approve before it starts.').optional(),
        children: z.array(childTask).optional(),
      })
      .refine(
        task => (task.title === undefined) !== (task.content === undefined) && (task.title !== undefined || task.file),
        {error: 'give either title, or file and content'},
      ),
  },
  update_task: {
    effect: 'write',
    default: 'allow',
    description: 'Change the state of a task, add a note to it, or set its fields.',
    arguments: z.strictObject({
      id: name('Task id.'),
      status: z.enum(taskStates).optional(),
      note: text('Appended to its notes.').optional(),
      fields: z.record(z.string(), z.string()).describe('Fields to set.').optional(),
    }),
  },
  query_tasks: {
    effect: 'read',
    default: 'allow',
    description: "Query the tasks with SQL, for example `SELECT id, title FROM tasks WHERE state = 'pending'`.",
    arguments: z.strictObject({query: name('A SELECT over the table tasks.')}),
  },
  send_message: {
    effect: 'write',
    default: 'allow',
    description: 'Send a message to another agent of this home; it wakes up and reads it.',
    arguments: z.strictObject({to: name('Agent id, with or without @.'), content: name('The message.')}),
  },
  list_agents: {
    effect: 'read',
    default: 'allow',
    description: 'List the agents of this home with what they do.',
    arguments: z.strictObject({}),
    result: {
      agents: '`id`, `type` and `description` of each.',
      'left_out?': 'How many did not fit.',
    },
  },
  list_sessions: {
    effect: 'read',
    default: 'allow',
    description: 'List sessions with their status.',
    arguments: z.strictObject({
      agent: text('Only of this agent.').optional(),
      status: text('Only with this status.').optional(),
    }),
    result: {
      sessions: '`id`, `agent`, `status` and `updated` of each, the latest first.',
      'left_out?': 'How many did not fit.',
    },
  },
  slack_send: {
    effect: 'outside',
    default: 'ask',
    description: 'Post a message to a Slack channel.',
    arguments: z.strictObject({
      channel: name('Channel or user.'),
      text: name('The message.'),
      thread: text('Thread to answer in.').optional(),
    }),
  },
  slack_read: {
    effect: 'read',
    default: 'allow',
    description: 'Read the latest messages that came from Slack.',
    arguments: z.strictObject({limit: count('Most messages to return.').optional()}),
  },
  email_send: {
    effect: 'outside',
    default: 'ask',
    description: 'Send a plain text e-mail to one address.',
    arguments: z.strictObject({to: name('Address.'), subject: text('Subject.'), text: text('Plain text body.')}),
  },
  task: {
    effect: 'write',
    default: 'allow',
    description:
      'Give a piece of work to a fresh agent of the named type and get back a summary of what it found or did.',
    arguments: z.strictObject({
      agent_type: name('Template id.'),
      description: name('The whole assignment: the agent sees nothing else.'),
      estimated_complexity: z.enum(['simple', 'moderate', 'complex']).optional(),
    }),
  },
  agent_spawn: {
    effect: 'write',
    default: 'ask',
    description: 'Start a new agent that stays and can be sent messages.',
    arguments: z.strictObject({
      name: name('Its id.'),
      template: text('Template to make it from.').optional(),
      provider: text('Model provider.').optional(),
      model: text('Model.').optional(),
    }),
  },
  channel_send: {
    effect: 'write',
    default: 'allow',
    description: "Write to the workflow's channel. `@name` wakes that agent.",
    arguments: z.strictObject({message: name('The message.')}),
  },
  channel_read: {
    effect: 'read',
    default: 'allow',
    description: "Read the workflow's channel.",
    arguments: z.strictObject({
      since: text('Only entries after this time.').optional(),
      limit: count('Most entries to return.').optional(),
    }),
  },
  channel_peek: {
    effect: 'read',
    default: 'allow',
    description: "Look at the latest entries of the workflow's channel without marking them as read.",
    arguments: z.strictObject({limit: count('Most entries to return.').optional()}),
  },
  document_read: {
    effect: 'read',
    default: 'allow',
    description: "Read the workflow's shared document.",
    arguments: z.strictObject({}),
  },
  document_write: {
    effect: 'write',
    default: 'ask',
    description: "Replace the workflow's shared document.",
    arguments: z.strictObject({content: text('The whole new content.')}),
  },
  document_append: {
    effect: 'write',
    default: 'ask',
    description: "Add to the end of the workflow's shared document.",
    arguments: z.strictObject({content: name('What to add.')}),
  },
} as const satisfies Record<string, ToolDefinition>;

export type ToolName = keyof typeof tools;
