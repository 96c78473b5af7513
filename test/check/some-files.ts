import fc from 'fast-check';

/** Files of all kinds whose names clash as often as not. */
const agent = fc.constantFrom('a', 'b', 'c', 'm', 'a@x', 'm@x', 'home/z', 'bb');
const taskId = fc.constantFrom('t1', 't2', 't3', 't4', 't5', 't12');
const approvalId = fc.constantFrom('p', 'q', 'r');
const maybe = (line: fc.Arbitrary<string>) => fc.option(line, {nil: undefined});
const lines = (parts: readonly (string | undefined)[]) => parts.filter(part => part !== undefined).join('\n');

const template = fc.record({
  path: fc.constantFrom('a.agent.yaml', 'a.agent.md', 'b.agent.yaml', 'sub/a.agent.yaml', 'c.agent.md', 'b b.agent.md'),
  text: fc.constantFrom(
    'id: a\ntype: t\nsystem_prompt: p\ncapabilities: [read_file, raed_file]\n',
    'id: b\ntype: t\nsystem_prompt: p\ncapabilities: [read_file]\n',
    'id: b\ntype: t\ndescription: d\nsystem_prompt: p\ncapabilities: [read_file]\nlimits: {max_turns: 2, max_cost_usd: 0.5}\n',
    '## Description\nx\n## Allowed Tools\n- read\n## System Prompt\nx\n',
    'id: [',
  ),
});

const call = fc
  .tuple(fc.constantFrom('c1', 'c2'), maybe(approvalId), fc.constantFrom('{}', '{'))
  .map(([id, approval, args]) =>
    lines([
      '  - role: assistant',
      '    tool_calls:',
      `      - id: ${id}`,
      `        function: {name: read_file, arguments: '${args}'}`,
      approval && `        approval: ${approval}`,
    ]),
  );
const answer = fc
  .tuple(
    maybe(fc.constantFrom('2025-10-04T10:05:23.000Z', '2025-10-05T00:30:00+02:00', '2025-10-05')),
    maybe(fc.constantFrom('{input_tokens: 10, output_tokens: 2}', '{cost_usd: 0.1}')),
  )
  .map(([time, usage]) =>
    lines([
      '  - role: assistant',
      time && `    timestamp: '${time}'`,
      usage && `    usage: ${usage}`,
      '    content: yes',
    ]),
  );
const message = fc.oneof(
  answer,
  fc.constant('  - role: user\n    content: hi'),
  call,
  fc.constantFrom('c1', 'c2').map(id => `  - role: tool_result\n    tool_call_id: ${id}\n    content: x`),
);
const header = fc.tuple(
  maybe(
    fc.constantFrom('# comment', '"agent_type": x', 'metadata: {session_id: u}', 'system_prompt: |\n  agent_id: b'),
  ),
  maybe(fc.constantFrom('session_id: s', 'session_id:  t', "'session_id': s", 'session_id: "s"')),
  agent.map(name => `agent_id: '${name}'`),
  maybe(
    fc.constantFrom(
      'status: active',
      'status: completed',
      'status: waiting\nwaiting_for: p',
      'status: error\nerror: "no model"',
      'status: bad',
    ),
  ),
  maybe(fc.constant('segments: [x]')),
);
const session = fc.record({
  path: fc.constantFrom(
    's.session.yaml',
    't.session.yaml',
    'x/s.session.yaml',
    'archive/s.1.session.yaml',
    'archive/2025-10/t.session.yaml',
  ),
  text: fc
    .tuple(header, fc.array(message, {maxLength: 4}), fc.constantFrom('', '\ufeff'), fc.constantFrom('\n', '\r\n'))
    .map(([head, messages, bom, end]) =>
      (bom + lines([...head, messages.length > 0 ? 'messages:' : 'messages: []', ...messages, ''])).replaceAll(
        '\n',
        end,
      ),
    ),
});

const task = fc
  .tuple(
    fc.constantFrom(' ', 'x', '-', '/', '!'),
    fc.constantFrom('@human ', '@a ', '@b @human ', '@nobody ', '@m@x ', ''),
    fc.constantFrom('"One"', '"Ask @a"', '"Tw\\u202eo"'),
    maybe(taskId.map(id => `  id: ${id}`)),
    maybe(fc.array(taskId, {minLength: 1, maxLength: 3}).map(ids => `  depends_on: ${ids.join(', ')}`)),
    maybe(taskId.map(id => `  parent: ${id}`)),
    maybe(agent.map(name => `  assign: new:${name}`)),
  )
  .map(([box, names, title, ...fields]) => lines([`- [${box}] ${names}${title}`, ...fields]));
const tasks = fc.record({
  path: fc.constantFrom('a.task.md', 'b.task.md', 'c.task.md', 'd/a.task.md'),
  text: fc.array(task, {maxLength: 6}).map(all => lines(['## TODO', '', ...all, ''])),
});

const item = fc
  .tuple(
    fc.constantFrom('_', 'x', '-', '/'),
    maybe(approvalId.map(id => `  id: ${id}`)),
    maybe(agent.map(name => `  agent: ${name}`)),
    maybe(fc.constantFrom('  session: s', '  session: t', '  session: s.1')),
    maybe(fc.constantFrom('  status: pending', '  status: approved', '  status: withdrawn')),
    maybe(fc.constant('  approval_type: budget')),
  )
  .map(([box, ...fields]) => lines([`- [${box}] @human "Approve"`, ...fields]));
const queue = fc.record({
  path: fc.constantFrom('approvals.task.md', 'archive/approvals-2025-10.task.md'),
  text: fc.array(item, {maxLength: 4}).map(all => lines(['## TODO', '', ...all, ''])),
});

const page = fc.record({
  path: fc.constantFrom(
    'pending/p.approval.md',
    'pending/q.approval.md',
    'pending/x/p.approval.md',
    'approved/r.approval.md',
  ),
  text: fc
    .tuple(approvalId, fc.constantFrom('', 'APPROVED', 'REJECTED', 'perhaps'))
    .map(([id, decision]) => `# Approval Request: ${id}\n\n## Review\n\n**Decision:** ${decision}\n`),
});

const inFolder = (folder: string, files: fc.Arbitrary<{path: string; text: string}>) =>
  files.map(({path, text}) => ({path: `${folder}/${path}`, text}));
const fixed = (path: string, ...texts: string[]) => fc.constantFrom(...texts).map(text => ({path, text}));

export const someFile: fc.Arbitrary<{path: string; text: string}> = fc.oneof(
  {weight: 3, arbitrary: inFolder('templates', template)},
  {weight: 4, arbitrary: inFolder('sessions', session)},
  {weight: 6, arbitrary: inFolder('tasks', tasks)},
  {weight: 3, arbitrary: inFolder('tasks', queue)},
  {weight: 3, arbitrary: inFolder('approvals', page)},
  fixed(
    'agentdir.yaml',
    'default_agent: a\n',
    'limits: {per_day: {tokens: 5}}\n',
    'default_agent: "@bbb"\nschedules: [{cron: "0 9 * * *", to: c, message: x}]\n',
    'x: [',
  ),
  fixed('allowlist.yaml', 'version: 1\ntools: {raed_file: ask}\n', 'version: 1\ntests: [{run: ls, expect: allow}]\n'),
  fixed('workflows/w.workflow.yaml', 'agents: {m: {model: x, system_prompt: y}}\nkickoff: "@m go"\n', 'agents: {}\n'),
  fixed('inbox/x.jsonl', '{"text": "hi"}\n', 'no\n'),
  fixed('conflicts/a.task.md', '- [ ] "mine"\n'),
  fixed('memory/x.md', 'x\n'),
  fixed(
    'state/spend.yaml',
    'day: 2025-10-04\nagents:\n  a: {turns: 1, input_tokens: 10, output_tokens: 2, cost_usd: 0.25}\n',
    'day: x\n',
  ),
);
