import type {ChatMessage} from '../../src/decide/chat.ts';
import {type FakeOpenAI, type Reaction, startFakeOpenAI} from '../model/fake-openai.mjs';

export const TASKS = 'tasks/redis-check.task.md';
const COMMAND = './docker ps --filter "name=redis" --format "{{.Status}}"';

/** A call that was made, with what came of it. */
interface Made {
  name: string;
  args: Record<string, unknown>;
  result: Record<string, unknown>;
}

/** What an agent knows: all that it was told, and all that it did. */
interface Known {
  told: string;
  made: Made[];
  did: (name: string, ...args: [key: string, value: unknown][]) => Made | undefined;
}

/**
 * A model for the four agents of the shipped templates, which are known by their prompts. It decides by what it was told
 * and did so far, as a model does, and knows nothing of ids, channels and results but what it reads there.
 */
export function startStoryModel(): Promise<FakeOpenAI> {
  return startFakeOpenAI({
    keep: false,
    answer: ({messages}) => {
      const agent = /^You are the (\w+) of an Agentdir home/.exec(String(messages[0]?.content))?.[1] ?? '';
      const mind = minds[agent];
      if (!mind) throw new Error(`nobody plays ${messages[0]?.content}`);
      return mind(knownFrom(messages));
    },
  });
}

function knownFrom(messages: readonly ChatMessage[]): Known {
  const results = new Map(messages.flatMap(each => (each.role === 'tool' ? [[each.tool_call_id, each.content]] : [])));
  const made = messages
    .flatMap(each => (each.role === 'assistant' ? (each.tool_calls ?? []) : []))
    .map(({id, function: {name, arguments: args}}) => ({
      name,
      args: JSON.parse(args) as Made['args'],
      result: JSON.parse(results.get(id) ?? '{}') as Made['result'],
    }));
  return {
    told: messages.flatMap(({role, content}) => (role === 'user' ? [content ?? ''] : [])).join('\n\n'),
    made,
    did: (name, ...args) =>
      made.find(
        call =>
          call.name === name && call.result.success === true && args.every(([key, value]) => call.args[key] === value),
      ),
  };
}

const call = (name: string, args: Record<string, unknown> = {}) => ({name, arguments: args});
const note = (id: string, status: string, text?: string) =>
  call('update_task', {id, status, ...(text === undefined ? {} : {note: text})});
const field = (told: string, name: string) => new RegExp(`^${name}: (\\S+)$`, 'm').exec(told)?.[1] ?? '';
const idOf = (made: Made | undefined) => (made?.result.task_ids as string[] | undefined)?.[0] ?? '';

const minds: Readonly<Record<string, (known: Known) => Reaction>> = {
  planner({told, did}) {
    if (!did('list_agents')) return {text: 'I look who is there.', calls: [call('list_agents')]};
    const plan: [assignee: string, title: string, prompt: string][] = [
      ['retriever-001', 'Find the container runtime', 'Which container runtime does this machine use?'],
      ['executor-001', 'Check the Redis container', 'Ask the runtime for the status of the container redis.'],
      ['evaluator-001', 'Validate the check', 'Does the note of the check answer the question?'],
    ];
    let before: Made | undefined;
    for (const [assignee, title, prompt] of plan) {
      const task = did('create_task', ['title', title]);
      const depends = before ? {depends_on: [idOf(before)]} : {};
      if (!task)
        return {calls: [call('create_task', {title, assignee, prompt, file: TASKS, priority: 'B', ...depends})]};
      before = task;
    }
    const status = /Task completed: "Validate the check"[\s\S]*?Confirmed: (Up [\w ]+)/.exec(told)?.[1];
    if (status === undefined) return {text: 'The plan stands; I wait for the others.'};
    if (did('slack_send')) return {text: 'The answer is in Slack.'};
    if (!did('read_file')) return {calls: [call('read_file', {path: 'memory/team-prefs.md'})]};
    const [channel, thread] = [field(told, 'channel'), field(told, 'thread')];
    return {
      text: 'All is in, so I answer where I was asked.',
      calls: [call('slack_send', {channel, thread, text: `Redis is running: ${status}.`})],
    };
  },

  retriever({told, did}) {
    const id = field(told, 'Id');
    const read = did('read_file');
    if (!did('grep')) return {calls: [note(id, 'in_progress'), call('grep', {pattern: 'runtime', path: 'memory'})]};
    if (!read) return {calls: [call('read_file', {path: 'memory/system-config.md'})]};
    const runtime = /Container runtime: (\w+)/.exec(String(read.result.content))?.[1];
    if (!did('update_task', ['status', 'completed']))
      return {calls: [note(id, 'completed', `Runtime: ${runtime}, from memory/system-config.md`)]};
    return {text: 'Found and noted.'};
  },

  executor({told, made, did}) {
    const id = field(told, 'Id');
    const plan = did('read_file');
    if (!plan) return {calls: [note(id, 'in_progress'), call('read_file', {path: TASKS})]};
    if (!String(plan.result.content).includes('Runtime: docker')) throw new Error('the note is not there yet');
    const ran = did('execute_command');
    // Told that nobody knows what became of it, a model tries again: a person is asked first.
    if (!ran && made.filter(({name}) => name === 'execute_command').length < 4)
      return {
        text: 'I look at the container.',
        calls: [call('execute_command', {command: COMMAND, reason: 'to know'})],
      };
    if (!did('update_task', ['status', 'completed']))
      return {calls: [note(id, 'completed', `Redis status: ${String(ran?.result.stdout).trim()}`)]};
    return {text: 'Checked and noted.'};
  },

  evaluator({told, did}) {
    const id = field(told, 'Id');
    const plan = did('read_file');
    if (!plan) return {calls: [note(id, 'in_progress'), call('read_file', {path: TASKS})]};
    const status = /Redis status: (Up [\w ]+)/.exec(String(plan.result.content))?.[1];
    if (!did('update_task', ['status', 'completed'])) return {calls: [note(id, 'completed', `Confirmed: ${status}`)]};
    return {text: 'Confirmed.'};
  },
};
