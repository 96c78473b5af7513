import {describe, expect, it} from 'vitest';
import {parseWorkflow} from '../../src/formats/workflow.ts';
import {migrateWorkflow} from '../../src/formats/workflow-v1.ts';

const OLD = `# reviews
name: review
agents:
  reviewer: {model: anthropic/claude-sonnet-4-5, system_prompt: You review.} # keep
  coder: {system_prompt: You fix.}
tasks:
  - shell: gh pr diff
    as: diff
  - send: "Review: \${{ diff }}"
    to: reviewer
    as: review
  - send: "Fix issues: \${{ review }} in \${{ diff }}"
    to: coder
`;

describe('a workflow of agent-worker v1', () => {
  it('gets setup and kickoff, which wakes the first agent only and says who is next', () => {
    const {text = '', problems} = migrateWorkflow(OLD);
    expect(problems).toEqual([]);
    expect(text).toContain('# reviews\nname: review\n');
    expect(text).toContain('system_prompt: You review.} # keep\n');
    const {value, problems: left} = parseWorkflow(text);
    expect(left).toEqual([]);
    expect(value).toMatchObject({setup: [{shell: 'gh pr diff', as: 'diff'}], context: {channel: null, document: null}});
    expect(value).not.toHaveProperty('tasks');
    expect(value?.kickoff).toMatch(/^@reviewer Review: \$\{\{ diff \}\}\n\nWhen you are done, .* mention `coder` /);
    expect(value?.kickoff).toMatch(/\n\n`coder`: Fix issues: the answer of `reviewer` in the diff above\n$/);
    expect(value?.kickoff.match(/(?<!`)@\w/g)).toEqual(['@r']);
  });

  it.each([
    ['no tasks', 'kickoff: "@a"\nagents: {a: {system_prompt: x}}\n', 'expected a workflow with "tasks:"'],
    ['both', `${OLD}kickoff: "@coder"\n`, 'found both'],
    ['an unknown step', OLD.replace('as: diff', 'if: x'), 'found "if"'],
    ['an unknown agent', OLD.replace('to: coder', 'to: codr'), 'got "codr"'],
    ['a command that needs an answer', `${OLD}  - shell: echo \${{ review }}\n`, 'the answer of reviewer'],
    ['only commands', 'agents: {a: {system_prompt: x}}\ntasks: [{shell: ls}]\n', 'at least one step with "send:"'],
    ['no YAML', 'a: [', 'expected'],
  ])('with %s stays as it is, and the place is named', (_, text, words) => {
    const {text: made, problems} = migrateWorkflow(text);
    expect(made).toBeUndefined();
    expect(problems.map(({message}) => message).join('\n')).toContain(words);
    expect(problems[0]?.line).toBeGreaterThan(0);
  });
});
