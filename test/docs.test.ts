import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, expect, it} from 'vitest';
import {parseHome} from '../src/check/home.ts';
import {checkHome} from '../src/check/index.ts';
import {parseFile} from '../src/check/parse-file.ts';
import {codes} from '../src/formats/common/errors.ts';
import {blocksOf} from './readme-blocks.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

function below(folder: string, ending: string): string[] {
  return readdirSync(join(root, folder), {withFileTypes: true}).flatMap(entry =>
    entry.isDirectory()
      ? below(`${folder}/${entry.name}`, ending)
      : entry.name.endsWith(ending)
        ? [`${folder}/${entry.name}`]
        : [],
  );
}

const pages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...below('docs', '.md')];

describe('the docs', () => {
  it('list every diagnostic code with its severity', () => {
    const page = read('docs/formats/problems.md');
    for (const [code, severity] of Object.entries(codes))
      expect(
        page.split('\n').find(line => line.includes(`\`${code}\``)),
        code,
      ).toContain(severity);
  });

  it('name the two commands that do all set-up', () => {
    expect(read('README.md')).toContain('npm ci && npm start');
    expect(read('README.md')).toContain('npm ci && npm test');
  });

  it('lead through the code on a guided tour that is short, and as the code is', () => {
    const [, tour = ''] = /\n## Guided tour\n(.*?)\n## /s.exec(read('ARCHITECTURE.md')) ?? [];
    const hops = [...tour.matchAll(/^\| (\d+) \| `([\w.#]+)` \| `([\w/.-]+)` \|/gm)];
    expect(hops.map(([, number]) => Number(number))).toEqual(hops.map((_, i) => i + 1));
    const left = [...tour.matchAll(/`([\w.]+)`\s\(`([\w/.-]+\.ts)`\)/g)].map(([, name, file]) => [name, file]);
    for (const [name = '', file = ''] of [...hops.map(([, , name, file]) => [name, file]), ...left]) {
      const own = name.split('.').at(-1) ?? '';
      expect(read(`src/${file}`), `${name} in ${file}`).toMatch(
        new RegExp(`(?:function|const|class|async|static|^ *) ?${own}\\b[(:=<\\s]`, 'm'),
      );
    }
    const files = new Set(hops.map(([, , , file]) => file));
    expect(tour).toContain(`That is ${hops.length} hops through ${files.size} files.`);
    expect(hops.length).toBeLessThanOrEqual(60);
    expect(files.size).toBeLessThanOrEqual(30);
  });

  it.each(pages)('%s has no dead links, nor such as lead to no heading', page => {
    for (const [, target = '', anchor] of withoutBlocks(read(page)).matchAll(
      /\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g,
    )) {
      const file = target === '' ? page : join(dirname(page), target);
      expect(existsSync(join(root, file)), `${page} → ${target}`).toBe(true);
      if (anchor !== undefined && file.endsWith('.md')) expect(anchorsOf(file), `${page} → ${file}`).toContain(anchor);
    }
  });

  it.each(pages)('%s has no example that is wrong', page => {
    for (const {line, language, lines} of blocksOf(read(page))) {
      const [syntax = '', format = ''] = language.split(' ');
      if (syntax !== 'yaml' && syntax !== 'markdown') continue;
      const place = `${page}:${line}`;
      // What a block is an example of follows its language; `part`: of no whole file.
      expect([...Object.keys(formats), 'part'], place).toContain(format);
      if (format === 'part') continue;
      const text = `${lines.join('\n')}\n`;
      expect(problemsOf(format, syntax, text), `${place}\n${text}`).toEqual([]);
    }
  });

  it('have an index of all pages', () => {
    const index = read('docs/README.md');
    for (const page of below('docs', '.md').filter(path => !/^docs\/(?:README|formats\/)/.test(path)))
      expect(index, page).toContain(`](${page.slice('docs/'.length)})`);
    const formatIndex = read('docs/formats/README.md');
    for (const page of below('docs/formats', '.md').filter(path => !path.endsWith('README.md')))
      expect(formatIndex, page).toContain(`](${page.slice('docs/formats/'.length)})`);
  });

  it('quote messages as the program prints them', () => {
    const source = below('src', '.ts')
      .map(read)
      .concat(read('playbooks/first-run.playbook.yaml'))
      .join('\n')
      .replace(/'\s*\+\s*'|\s+/g, text => (text.includes('+') ? '' : ' '));
    const rows = read('docs/troubleshooting.md')
      .split('\n')
      .filter(line => /^\| (?!---|what you see)/.test(line));
    expect(rows.length).toBeGreaterThan(40);
    let quoted = 0;
    const unknown: string[] = [];
    for (const row of rows) {
      const [, seen = ''] = row.split(' | ')[0]?.match(/^\| (.*)$/) ?? [];
      for (const [, message = ''] of seen.matchAll(/`([^`]+)`/g)) {
        quoted++;
        if (!message.split('…').every(part => source.includes(part.trim()))) unknown.push(message);
      }
    }
    expect(unknown).toEqual([]);
    expect(quoted).toBeGreaterThan(40);
  });

  it('name only tests that exist', () => {
    for (const page of pages) {
      for (const [path] of read(page).matchAll(/test\/[\w/-]+\.test\.ts/g))
        expect(existsSync(join(root, path)), `${page}: ${path}`).toBe(true);
    }
  });
});

const formats: Record<string, {yaml?: string; markdown?: string}> = {
  settings: {yaml: 'agentdir.yaml'},
  allowlist: {yaml: 'allowlist.yaml'},
  agent: {yaml: 'templates/NAME.agent.yaml', markdown: 'templates/NAME.agent.md'},
  session: {yaml: 'sessions/NAME.session.yaml'},
  tasks: {markdown: 'tasks/NAME.task.md'},
  playbook: {yaml: 'playbooks/NAME.playbook.yaml'},
  workflow: {yaml: 'workflows/NAME.workflow.yaml'},
  run: {yaml: '.workflow/pr-123/run.yaml'},
  channel: {markdown: '.workflow/a/b/channel.md'},
  cursor: {yaml: 'state/inbox/NAME.yaml'},
  slots: {yaml: 'state/schedules.yaml'},
  holds: {yaml: 'state/agents.yaml'},
  spend: {yaml: 'state/spend.yaml'},
};

/** As the home would be told of this file. Of settings the first line may be left out. */
function problemsOf(format: string, syntax: 'yaml' | 'markdown', text: string): string[] {
  const name = /^(?:id|session_id|name): *([\w.-]+)$/m.exec(text)?.[1] ?? 'example';
  const path = formats[format]?.[syntax]?.replace('NAME', name) ?? '';
  const whole = format === 'settings' && !/^format:/m.test(text) ? `format: 1\n${text}` : text;
  const parsed = parseFile(path, whole);
  if (parsed === undefined) return [`${path} is no file of ours`];
  const found = parsed.file === undefined ? [] : parsed.file.problems;
  // Tests inside the policy are run where the whole home is looked at.
  const policy = format === 'allowlist' ? checkHome(parseHome([{path, text: whole}])) : [];
  return [...found, ...policy]
    .filter(({severity, code}) => severity === 'error' && code !== 'MISSING_TEMPLATE')
    .map(({code, line, message}) => `${line}: ${code} ${message}`);
}

function withoutBlocks(text: string): string {
  return text.replace(/^ {0,3}```[\s\S]*?^ {0,3}```$/gm, '').replace(/`[^`\n]*`/g, '');
}

/** As GitHub makes them. */
function anchorsOf(page: string): string[] {
  const seen = new Map<string, number>();
  return [
    ...read(page)
      .replace(/^ {0,3}```[\s\S]*?^ {0,3}```$/gm, '')
      .matchAll(/^#{1,6} +(.+?) *$/gm),
  ].map(([, heading = '']) => {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
}
