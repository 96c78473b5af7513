import {describe, expect, it} from 'vitest';
import {agentStates} from '../../src/check/agent-states.ts';
import {factsOf} from '../../src/check/read-facts.ts';
import {type Spawner, spawnedTemplate, type WantedAgent} from '../../src/check/spawned-agent.ts';
import {newTemplate, parseTemplate, type TemplateValue} from '../../src/formats/template.ts';

const template = (id: string, more = '') => `id: ${id}\ntype: t\nsystem_prompt: p\ncapabilities: [read_file]\n${more}`;
const session = (agent: string, status: string) =>
  `agent_id: ${agent}\nstatus: ${status}\nmessages:\n  - role: user\n    content: hello\n`;

function statesOf(files: Record<string, string>) {
  return agentStates(Object.entries(files).map(([path, text]) => [path, factsOf(path, text)] as const));
}

describe('what agents do', () => {
  const spawned = {'templates/spawned/impl.agent.yaml': template('impl', 'ephemeral: true\nmodel: openai/x\n')};

  it('follows from sessions and tasks', () => {
    const states = statesOf({
      'templates/a.agent.yaml': template('a'),
      'templates/b.agent.yaml': template('b'),
      'templates/c.agent.yaml': 'id: c\n',
      'sessions/a/a-1.session.yaml': session('a', 'sleeping'),
      'sessions/a/a-2.session.yaml': session('a', 'waiting'),
      'tasks/x.task.md': '## TODO\n- [/] @a "Look"\n  id: t1\n- [ ] @b "Later"\n  id: t2\n',
    });
    expect(states.map(({id, status, task, kind, model}) => [id, status, task?.id, kind, model])).toEqual([
      ['a', 'waiting', 't1', 'persistent', 'default'],
      ['b', 'idle', undefined, 'persistent', 'default'],
      ['c', 'wrong', undefined, 'persistent', null],
    ]);
  });

  it('an ephemeral agent is done once it has worked and has nothing left', () => {
    const status = (files: Record<string, string>) => statesOf({...spawned, ...files})[0]?.status;
    const task = (box: string) => ({'tasks/x.task.md': `## TODO\n- [${box}] @impl "Look"\n  id: t1\n`});
    const over = {'sessions/impl/impl-1.session.yaml': session('impl', 'sleeping')};
    expect(status({})).toBe('idle');
    expect(status({'sessions/impl/impl-1.session.yaml': session('impl', 'active')})).toBe('active');
    expect(status({...over, ...task(' ')})).toBe('idle');
    expect(status({...over, ...task('x')})).toBe('done');
    expect(status(over)).toBe('done');
    expect(status({'sessions/impl/impl-1.session.yaml': session('impl', 'error')})).toBe('error');
  });

  it('does not show the title of a task that words from outside led to', () => {
    const text = '## TODO\n- [/] @a "Run curl evil"\n  id: t1\n  taint: inbox/x.jsonl#1\n';
    const [state] = statesOf({'templates/a.agent.yaml': template('a'), 'tasks/x.task.md': text});
    expect(state?.task).toEqual({id: 't1', title: null});
  });
});

describe('an added agent', () => {
  const base: TemplateValue = {
    id: 'coder',
    type: 'coder',
    system_prompt: 'You write code.',
    capabilities: ['read', 'execute_command'],
    limits: {max_turns: 7},
    persistent: true,
  };
  const make = (wanted: WantedAgent, spawner: Spawner = {by: 'human'}) => spawnedTemplate(wanted, base, spawner);

  it('has the limits of its template, and is ephemeral unless asked otherwise', () => {
    const made = make({name: 'impl-1', model: 'anthropic/claude-3-sonnet'}, {by: '@pm', taint: ['inbox/a.jsonl#1']});
    if ('problem' in made) throw new Error(made.problem);
    const read = parseTemplate(newTemplate(made.value, '../../schemas/agent.json'), 'impl-1');
    expect(read.problems).toEqual([]);
    expect(read.value).toEqual({
      id: 'impl-1',
      type: 'coder',
      model: 'anthropic/claude-3-sonnet',
      system_prompt: 'You write code.',
      capabilities: ['read', 'execute_command'],
      limits: {max_turns: 7},
      spawned_by: '@pm',
      ephemeral: true,
      tainted: ['inbox/a.jsonl#1'],
    });
    expect(make({name: 'impl-2', persistent: true})).not.toHaveProperty('value.ephemeral');
  });

  it('has no tool that its template lacks, under no name', () => {
    expect(make({name: 'a', tools: ['Read', 'bash']})).toHaveProperty('value.capabilities', ['Read', 'bash']);
    for (const tool of ['write_file', 'agent_spawn', 'mcp__x__y', '*', ''])
      expect(make({name: 'a', tools: ['read', tool]}), tool).toHaveProperty('problem');
  });

  it.each(['', 'human', 'Human', 'a/b', '../a', 'a@b', 'a b', 'a\nb', `a${'b'.repeat(60)}`, '.a'])(
    'is not called %j',
    name => {
      expect(make({name})).toHaveProperty('problem');
    },
  );

  it.each(['a b', 'x/../y', 'x\ny', `x${'y'.repeat(200)}`])('has not the model %j', model => {
    expect(make({name: 'a', model})).toHaveProperty('problem');
  });
});
