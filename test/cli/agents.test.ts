import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {agentdir, newHome} from './run.ts';

function writeFiles(home: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), {recursive: true});
    writeFileSync(join(home, path), text);
  }
}

describe('agentdir agents', () => {
  it('adds an agent from a template, lists it until it is done, and removes it', async () => {
    const home = await newHome();
    const file = join(home, 'templates/spawned/impl-1.agent.yaml');
    const added = await agentdir(home, [
      'agents',
      'add',
      'impl-1',
      '--template',
      'coder',
      '--model',
      'openai/x',
      '--json',
    ]);
    expect(JSON.parse(added.stdout)).toMatchObject({
      name: 'impl-1',
      template: 'coder',
      model: 'openai/x',
      kind: 'ephemeral',
    });
    expect(readFileSync(file, 'utf8')).toMatch(/^spawned_by: human\nephemeral: true$/m);
    expect(await agentdir(home, ['check'])).toMatchObject({code: 0});
    const names = async (...args: string[]) => {
      const {stdout} = await agentdir(home, [...args, '--json']);
      const value = JSON.parse(stdout) as {agents?: {id: string}[]} | {name: string}[];
      return Array.isArray(value) ? value.map(({name}) => name) : value.agents?.map(({id}) => id);
    };
    expect(await names('agents')).toContain('impl-1');
    writeFiles(home, {
      'sessions/impl-1/impl-1-x.session.yaml':
        'session_id: impl-1-x\nagent_id: impl-1\nstatus: sleeping\nmessages:\n  - {role: user, content: a}\n',
      'tasks/x.task.md': '## TODO\n- [ ] @impl-1 "Look"\n  id: t1\n',
    });
    const busy = await agentdir(home, ['agents', 'rm', 'impl-1']);
    expect([busy.code, busy.stderr]).toEqual([
      1,
      expect.stringMatching(/has an open task\n {2}to remove it anyway: .*--force/),
    ]);
    writeFiles(home, {'tasks/x.task.md': '## TODO\n- [x] @impl-1 "Look"\n  id: t1\n'});
    expect(await names('agents')).not.toContain('impl-1');
    expect(await names('list')).not.toContain('impl-1');
    expect(await names('list', '--all')).toContain('impl-1');
    expect(await agentdir(home, ['agents', 'rm', 'impl-1'])).toMatchObject({code: 0});
    expect(existsSync(file)).toBe(false);
  });

  it('refuses what cannot be, and says what to do', async () => {
    const home = await newHome();
    const tries: [args: string[], code: number, says: RegExp][] = [
      [['add', 'planner-001'], 2, /there is an agent "planner-001" already/],
      [['add', 'human'], 2, /"human" is no agent's name/],
      [['add', 'a', '--template', 'codr'], 2, /did you mean coder/],
      [['add', 'a', '--tool', 'write_file'], 2, /general-purpose has no "write_file"; it has read/],
      [['rm', 'planner-001'], 1, /delete templates\/planner-001/],
    ];
    const said = await Promise.all(tries.map(([args]) => agentdir(home, ['agents', ...args])));
    for (const [i, {code, stderr}] of said.entries()) {
      expect(code, stderr).toBe(tries[i]?.[1]);
      expect(stderr).toMatch(tries[i]?.[2] ?? /never/);
    }
  });
});
