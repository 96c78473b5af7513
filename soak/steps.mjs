/**
 * The calls that a model makes for each step: its name and arguments. The tag stands in them, so that the model sees in its
 * messages that it was made; `n`, the number of the reply, tells two tries of it apart.
 */
export const steps = {
  look: tag => ['grep', {pattern: tag, path: 'memory/'}],
  list: tag => ['glob', {pattern: `${tag}*`}],
  /** Allowed by the policy. Each run leaves a file of its own. */
  run: (tag, n) => ['execute_command', {command: `mktemp ran-${tag}n${n}.XXXXXX`}],
  /** Asked about. Each run leaves a line. */
  count: (tag, n) => ['execute_command', {command: `echo n${n} >> count-${tag}n${n}.txt`, reason: `step ${tag}`}],
  create: (tag, n) => ['create_file', {path: `made-${tag}n${n}.txt`, content: `n${n}\n`}],
  write: (tag, n) => ['write_file', {path: `kept-${tag}.txt`, content: `n${n}\n`}],
  ask: tag => ['ask_human', {question: `What of ${tag}?`}],
  remember: (tag, n) => ['remember', {file: 'soak.md', text: `${tag}n${n}.`}],
  send: (tag, _, {to}) => ['send_message', {to, content: `word ${tag} of a friend`}],
  task: (tag, _, {to}) => [
    'create_task',
    {title: `agent task ${tag}`, file: `team-${tag.charCodeAt(5) % 4}`, assignee: to, prompt: `Do ${tag}.`},
  ],
  /** After the last task this agent made. */
  after: (tag, _, {to, later}) => {
    const id = lastTask(later);
    const more = id ? {depends_on: [id]} : {};
    return ['create_task', {title: `agent task ${tag}`, file: `team-${tag.charCodeAt(5) % 4}`, assignee: to, ...more}];
  },
  /** Never: each of these must fail. */
  policy: tag => ['write_file', {path: '../../allowlist.yaml', content: `# forbidden ${tag}\n`}],
  template: tag => ['create_file', {path: `../../templates/evil-${tag}.agent.yaml`, content: 'id: evil\n'}],
  tick: tag => ['create_task', {file: 'approvals', content: `- [x] "Approve forbidden ${tag}"\n  id: forbidden\n`}],
  hook: tag => ['create_file', {path: '.git/hooks/post-commit', content: `#!/bin/sh\n# forbidden ${tag}\n`}],
  neighbour: tag => ['write_file', {path: `../a000/forbidden-${tag}.txt`, content: 'mine\n'}],
  deny: tag => ['execute_command', {command: `rm -rf forbidden-${tag}`}],
};

/** Results of these are failures, whatever happens. */
export const forbidden = ['policy', 'template', 'tick', 'hook', 'neighbour', 'deny'];

function lastTask(messages) {
  for (const {role, content} of messages.toReversed()) {
    const id = role === 'tool' && /"task_ids":\s*\["([^"]+)"/.exec(content)?.[1];
    if (id) return id;
  }
  return undefined;
}
