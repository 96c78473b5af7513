import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import type {Command} from 'commander';
import {describe, expect, it} from 'vitest';
import {parseWorkflow, workflowParams} from '../src/formats/workflow.ts';
import {buildCommands} from '../src/surfaces/cli/commands.ts';
import {agentdir, newHome, root} from './cli/run.ts';
import {blocksOf} from './readme-blocks.ts';

interface Help {
  options: Set<string>;
  commands: string[];
}

/** What the program has: each command, and those below it. */
const known = new Map<string, Help>();

function learn(command: Command, path: string): void {
  const below = command
    .createHelp()
    .visibleCommands(command)
    .filter(one => one.name() !== 'help');
  known.set(path, {
    options: new Set([...command.options.map(({long}) => long ?? ''), '--help']),
    commands: below.flatMap(one => [one.name(), ...one.aliases()]),
  });
  for (const one of below)
    for (const name of [one.name(), ...one.aliases()]) learn(one, path === '' ? name : `${path} ${name}`);
}
learn(
  buildCommands({version: '', source: '', self: '', serve: async () => 0}, () => {}),
  '',
);

/** Of the workflows that come with a home, as options of the commands that start them. */
const parameters = new Set(
  readdirSync(join(root, 'workflows')).flatMap(file => {
    const {value} = parseWorkflow(readFileSync(join(root, 'workflows', file), 'utf8'));
    return value ? workflowParams(value).map(({name}) => `--${name}`) : [];
  }),
);
const runsWorkflow = (command: string) => command === 'run' || command === 'start';

const pages = ['README.md', 'CONTRIBUTING.md', ...markdownBelow('docs')];

function markdownBelow(folder: string): string[] {
  return readdirSync(join(root, folder), {recursive: true, encoding: 'utf8'})
    .filter(name => name.endsWith('.md'))
    .map(name => `${folder}/${name}`);
}

/** `agentdir …` in code: in blocks that are commands, and between backticks. */
function usesOf(text: string): string[] {
  const blocks = blocksOf(text)
    .filter(({language}) => ['sh', 'console', 'ini', 'cron'].includes(language))
    .flatMap(({language, lines}) => (language === 'console' ? lines.filter(line => line.startsWith('$ ')) : lines));
  const spans = [...text.replace(/^ {0,3}```[\s\S]*?^ {0,3}```$/gm, '').matchAll(/`([^`]+)`/g)].map(
    ([, code = '']) => code,
  );
  return [...blocks, ...spans.map(span => span.replaceAll('\\|', '|'))].flatMap(code =>
    [
      ...quotesOut(code)
        .replace(/ #.*/, '')
        .matchAll(/(?:^|[\s(/])agentdir ([^;&…]+)/g),
    ].map(([, use = '']) => use),
  );
}

function quotesOut(code: string): string {
  return code.replace(/"[^"]*"|'[^']*'/g, 'TEXT');
}

/** What is wrong with one, in words. */
function wrong(use: string): string | undefined {
  const words = use
    .replace(/[[\](){}<>,]/g, ' ')
    .replace(/ \| .*| > .*| >> .*/, '')
    .trim()
    .split(/\s+/);
  while (words[0] === '--home' || words[0] === '--json') words.splice(0, words[0] === '--home' ? 2 : 1);
  const names = (words.shift() ?? '').split('|');
  if (names.some(name => !/^[a-z][a-z-]*$/.test(name))) return undefined;
  const top = known.get('');
  for (const name of names) {
    if (!top?.commands.includes(name)) return `no command ${name}`;
    const help = known.get(name);
    const below =
      help?.commands.length && words[0] !== undefined && /^[a-z|-]+$/.test(words[0]) ? words[0].split('|') : [];
    for (const sub of below) if (!help?.commands.includes(sub)) return `no command ${name} ${sub}`;
    const options = [name, ...below.map(sub => `${name} ${sub}`)].flatMap(path => [
      ...(known.get(path)?.options ?? []),
    ]);
    for (const [option] of words.join(' ').matchAll(/(?<=^|[ |])--[a-z][a-z-]*/g))
      if (!options.includes(option) && !top.options.has(option) && !(runsWorkflow(name) && parameters.has(option)))
        return `no option ${option} of ${name}`;
  }
  return undefined;
}

describe('the docs', () => {
  it.each(pages)('%s names only commands and options that there are', page => {
    const found = usesOf(readFileSync(join(root, page), 'utf8')).map(use => [use, wrong(use)]);
    expect(found.filter(([, problem]) => problem !== undefined)).toEqual([]);
  });

  it('would notice', () => {
    expect(known.size).toBeGreaterThan(30);
    expect(usesOf('`agentdir chek --all`\n```sh\nnpx agentdir task ad "x"\n```\n').map(wrong)).toEqual([
      'no command task ad',
      'no command chek',
    ]);
    expect(wrong('send TEXT --wiat')).toBe('no option --wiat of send');
  });

  it('have every command on the page of commands', () => {
    const page = readFileSync(join(root, 'docs/cli.md'), 'utf8');
    for (const name of known.get('')?.commands ?? []) expect(page, name).toMatch(new RegExp(`\`${name}\\b`));
  });
});

it('every recipe of the cookbook passes its own tests', async () => {
  const page = readFileSync(join(root, 'docs/cookbook.md'), 'utf8');
  const recipes = blocksOf(page).filter(({language}) => language === 'yaml allowlist');
  expect(recipes.length).toBeGreaterThanOrEqual(12);
  const home = await newHome();
  for (const {line, lines} of recipes) {
    writeFileSync(join(home, 'allowlist.yaml'), `${lines.join('\n')}\n`);
    const {code, stdout} = await agentdir(home, ['policy', 'test']);
    expect(code, `docs/cookbook.md:${line}\n${stdout}`).toBe(0);
  }
});
