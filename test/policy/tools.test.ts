import {describe, expect, test} from 'vitest';
import {z} from 'zod';
import {aliases, isExternalTool, toolNamed, tools} from '../../src/policy/tools.ts';

const names = Object.keys(tools);

describe('tools', () => {
  test('have all of FORMATS', () => {
    const wanted = [
      'read_file list_directory create_directory write_file create_file edit_file glob grep search_files',
      'execute_command fetch ask_human remember create_task update_task query_tasks send_message list_agents',
      'list_sessions slack_send slack_read email_send task agent_spawn channel_send channel_read channel_peek',
      'document_read document_write document_append',
    ]
      .join(' ')
      .split(' ');
    expect(names).toEqual(expect.arrayContaining(wanted));
  });

  test.each(Object.entries(tools))('%s can be offered to a model', (_name, tool) => {
    const schema = z.toJSONSchema(tool.arguments, {target: 'draft-7'});
    expect(schema).toMatchObject({type: 'object', additionalProperties: false});
    expect(tool.description.length).toBeGreaterThan(20);
    expect(tool.arguments.safeParse({no_such_argument: 1}).success).toBe(false);
  });

  test('what reads is allowed, what leaves the home asks', () => {
    for (const [name, {effect, default: verdict}] of Object.entries(tools)) {
      if (effect === 'read') expect([name, verdict]).toEqual([name, 'allow']);
      if (effect === 'outside') expect([name, verdict]).toEqual([name, 'ask']);
    }
    expect(tools.write_file.default).toBe('ask');
    expect(tools.create_task.default).toBe('allow');
    expect(tools.send_message.default).toBe('allow');
  });

  test.each([
    ['title alone', {title: 'Check Redis'}, true],
    ['file and content', {file: 'tasks/x.task.md', content: '- [ ] A'}, true],
    ['content without file', {content: '- [ ] A'}, false],
    ['both', {title: 'A', file: 'x', content: '- [ ] A'}, false],
    ['nothing', {}, false],
    ['children', {title: 'A', children: [{title: 'B', depends_on: ['c']}]}, true],
    ['an unknown priority', {title: 'A', priority: 'urgent'}, false],
  ])('create_task with %s', (_name, value, ok) => {
    expect(tools.create_task.arguments.safeParse(value).success).toBe(ok);
  });

  test.each([
    ['read_file', 'read_file'],
    ['read', 'read_file'],
    ['Bash', 'execute_command'],
    ['LS', 'list_directory'],
    ['Task', 'task'],
    ['grep', 'grep'],
    ['fetch', 'fetch'],
    ['READ', undefined],
    ['toString', undefined],
    ['__proto__', undefined],
    ['mcp__github__create_issue', undefined],
    ['Bash(git:*)', undefined],
  ])('toolNamed(%s) is %s', (name, tool) => {
    expect(toolNamed(name)).toBe(tool);
  });

  test('aliases are no tool names, and lead to tools', () => {
    for (const [alias, tool] of Object.entries(aliases)) {
      expect(names).not.toContain(alias);
      expect(names).toContain(tool);
    }
  });

  test.each([
    ['mcp__github__create_issue', true],
    ['mcp__my-server__do_it', true],
    ['mcp__github', false],
    ['mcp____x', false],
    ['read_file', false],
  ])('isExternalTool(%s) is %s', (name, external) => {
    expect(isExternalTool(name)).toBe(external);
  });
});
