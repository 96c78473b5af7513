import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {toolsPage} from '../../src/effects/tools/page.ts';
import {type ToolDefinition, type ToolName, tools} from '../../src/policy/tools.ts';
import {root} from '../cli/run.ts';
import {toolHome} from './tool-home.ts';

describe('docs/tools.md', () => {
  it('is what the table of tools says', () => {
    expect(readFileSync(join(root, 'docs/tools.md'), 'utf8'), 'run npm run schemas').toBe(toolsPage());
  });

  it.each(Object.keys(tools) as ToolName[])('lists the fields of a result of %s', name => {
    expect(Object.keys((tools[name] as ToolDefinition).result ?? {})).not.toEqual([]);
  });

  it('lists all fields that results have', async () => {
    const {run, workspace} = toolHome({
      agents: () => Array(999).fill({id: 'a', type: 't', description: 'd'.repeat(99)}),
    });
    writeFileSync(join(workspace, 'a.txt'), 'text\n');
    writeFileSync(join(workspace, 'b.bin'), 'text\0');
    writeFileSync(join(workspace, 'large.txt'), 'text\n'.repeat(300_000));
    writeFileSync(join(workspace, 'latin1.txt'), Buffer.from([0x61, 0xe9]));
    const calls: [keyof typeof tools, object][] = [
      ['read_file', {path: 'a.txt'}],
      ['read_file', {path: 'large.txt'}],
      ['read_file', {path: 'latin1.txt'}],
      ['list_directory', {}],
      ['create_directory', {path: 'd'}],
      ['write_file', {path: 'a.txt', content: 'x'}],
      ['create_file', {path: 'd/c', content: 'x'}],
      ['edit_file', {path: 'd/c', old: 'x', new: 'y'}],
      ['glob', {pattern: 'none'}],
      ['grep', {pattern: 'text'}],
      ['grep', {pattern: 'none', glob: '*.x'}],
      ['list_agents', {}],
      ['list_sessions', {}],
    ];
    for (const [name, args] of calls) {
      const {success, ...fields} = await run(name, args);
      expect(success, name).toBe(true);
      const listed = Object.keys((tools[name] as ToolDefinition).result ?? {});
      const must = listed.filter(field => !field.endsWith('?'));
      expect(Object.keys(fields), name).toEqual(expect.arrayContaining(must));
      expect(
        listed.map(field => field.replace('?', '')),
        name,
      ).toEqual(expect.arrayContaining(Object.keys(fields)));
    }
  });
});
