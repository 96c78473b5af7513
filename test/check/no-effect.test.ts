import {readdirSync, readFileSync, renameSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {expectedNames} from '../../src/formats/common/key.ts';
import {notYet} from '../../src/formats/common/no-effect.ts';
import {parseSettings} from '../../src/formats/settings.ts';
import {parseTemplate} from '../../src/formats/template.ts';
import {agentdir, newHome, put, root, until} from '../cli/run.ts';
import {read, serve} from '../daemon/serve.ts';

describe('the tables of what this version does not do', () => {
  it('have no row for a key that the source uses', () => {
    const source = readdirSync(join(root, 'src'), {recursive: true, withFileTypes: true})
      .filter(entry => entry.isFile() && !entry.parentPath.includes('/src/formats'))
      .map(entry => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
      .join('\n')
      // An address may lead to another home when a server is named, though this version does not connect to it.
      .replaceAll(/settings(?:\(\))?\?\.nats|value\?\.nats/g, '');
    const used = (path: string) =>
      new RegExp(
        `\\b(?:template|settings|header|limits|value|session|message)\\??\\.${path.split('.').at(-1)}\\b`,
      ).test(source);
    // So the test sees what is used.
    expect(used('default_agent') && used('tainted')).toBe(true);
    expect([...Object.keys(notYet.settings), ...Object.keys(notYet.template)].filter(used)).toEqual([]);
  });
});

describe('keys without effect', () => {
  const codes = (text: string) => parseSettings(text).problems.map(({code, line, hint}) => `${code} ${line} ${hint}`);

  it('are told once for each key, however often it occurs', () => {
    const models = [1, 2, 3].map(n => `  - {id: m${n}, mood: calm, colour: red}\n`).join('');
    expect(codes(`models:\n${models}`)).toEqual([
      'NO_EFFECT 2 remove it, or make it a comment',
      'NO_EFFECT 2 remove it, or make it a comment',
    ]);
  });

  it('name the key that was meant, also if that is there already', () => {
    expect(codes('concurency: 3\n')).toEqual(['LIKELY_TYPO 1 did you mean "concurrency"?']);
    expect(codes('concurrency: 3\nconcurency: 4\n')).toEqual([
      'LIKELY_TYPO 2 did you mean "concurrency"? That key is there already',
    ]);
    expect(codes('limits: {per_day: {cost: 5}}\n')).toEqual(['LIKELY_TYPO 1 did you mean "cost_usd"?']);
    expect(codes('search: {embeddings: {base_url: "http://127.0.0.1:1", model: m, api_keyenv: X}}\n')).toEqual([
      'LIKELY_TYPO 1 did you mean "api_key_env"?',
    ]);
  });

  it('are no problem below metadata, with x-, or set to what holds anyway', () => {
    expect(codes('x-anchors: {a: 1}\nnats: null\nmcp_servers: {}\n')).toEqual([]);
    const template = 'id: a\ntype: a\nsystem_prompt: Hi\ncapabilities: []\n';
    const text = `${template}metadata: {colour: red}\nisolation: none\npersistent: false\n`;
    const {value, problems} = parseTemplate(text, 'a');
    expect(problems).toEqual([]);
    expect(value).toMatchObject({isolation: 'none'});
    const warned = parseTemplate(`${template}isolation: process\n`, 'a');
    expect(warned.problems).toMatchObject([{code: 'NO_EFFECT', line: 5, column: 1}]);
    expect(warned.value).toMatchObject({id: 'a', isolation: 'process'});
  });
});

describe('files that are not read because of their name', () => {
  it('are those in our folders that look like ours', () => {
    expect(expectedNames('templates/x.md')).toEqual(['templates/x.agent.yaml', 'templates/x.agent.md']);
    expect(expectedNames('templates/x.agent.yml')).toEqual(['templates/x.agent.yaml', 'templates/x.agent.md']);
    expect(expectedNames('sessions/s.yaml')).toEqual(['sessions/s.session.yaml']);
    expect(expectedNames('tasks/todo.md')).toEqual(['tasks/todo.task.md']);
    expect(expectedNames('inbox/slack.json')).toEqual(['inbox/slack.jsonl']);
    for (const path of [
      ...['templates/x.agent.md', 'templates/README.md', 'templates/.x.md', 'templates/x.md~', 'templates/x.png'],
      ...[
        'templates/x.yaml.swp',
        'memory/x.txt',
        'notes/x.md',
        'x.yaml',
        'workflows/x.yaml',
        'sessions/archive/x.compact.2.md',
      ],
    ])
      expect(expectedNames(path), path).toEqual([]);
  });

  it('are told by check and by the daemon, until they are renamed', async () => {
    const home = await newHome();
    put(home, {'templates/helper.md': '---\nname: helper\ntools: Read\n---\nYou help.\n'});
    const {code, stdout} = await agentdir(home, ['check']);
    expect(code).toBe(0);
    expect(stdout).toContain('templates/helper.md:1:1: warning NO_EFFECT: the file is not read');
    expect(stdout).toContain('= rename it to templates/helper.agent.md, or move it elsewhere');
    const served = await serve(home);
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => text.includes('templates/helper.md'),
    );
    renameSync(join(home, 'templates/helper.md'), join(home, 'templates/helper.agent.md'));
    await until(
      () => read(home, 'NEEDS_YOU.md'),
      text => !text.includes('helper'),
    );
    await served.stop();
    expect((await agentdir(home, ['check'])).stdout).toContain('no problems');
  });
});
