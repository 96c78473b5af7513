import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {afterAll, describe, expect, it} from 'vitest';
import {parseHome} from '../src/check/home.ts';
import {checkHome} from '../src/check/index.ts';
import type {Problem} from '../src/formats/common/diagnostic.ts';
import {type Code, codes} from '../src/formats/common/errors.ts';
import {loadHome} from '../src/surfaces/actions/load-home.ts';

/**
 * One folder for each code: a small home with all its problems in expected.json. The files that git cannot hold are
 * made here.
 */
const fixtures = fileURLToPath(new URL('./fixtures/problems/', import.meta.url));
const update = process.env.UPDATE === '1';
const temporary = mkdtempSync(join(tmpdir(), 'agentdir-problems-'));
afterAll(() => rmSync(temporary, {recursive: true, force: true}));

const made: Partial<Record<Code, (dir: string) => void>> = {
  NOT_UTF8(dir) {
    mkdirSync(join(dir, 'tasks'));
    writeFileSync(join(dir, 'tasks/home.task.md'), Buffer.from('## TODO\n\n- [ ] "caf\u00e9"\n', 'latin1'));
  },
  FILE_TOO_LARGE(dir) {
    mkdirSync(join(dir, 'tasks'));
    writeFileSync(join(dir, 'tasks/home.task.md'), '');
    truncateSync(join(dir, 'tasks/home.task.md'), 64 * 1024 * 1024 + 1);
  },
  UNREADABLE(dir) {
    mkdirSync(join(dir, 'allowlist.yaml'));
  },
  NO_REPOSITORY(dir) {
    writeFileSync(join(dir, 'agentdir.yaml'), 'format: 1\n');
  },
};

function homeOf(code: Code): string {
  const make = made[code];
  if (!make) return join(fixtures, code);
  const dir = join(temporary, code);
  mkdirSync(dir);
  make(dir);
  return dir;
}

describe('every code', () => {
  it('has a fixture, and there is a fixture for nothing else', () => {
    expect(readdirSync(fixtures).sort()).toEqual(Object.keys(codes).sort());
  });

  it.each(Object.keys(codes) as Code[])('%s is found where it is, with what to do', code => {
    const found = checkHome(loadHome(homeOf(code)).home);
    const path = join(fixtures, code, 'expected.json');
    if (update) writeFileSync(path, `${JSON.stringify(found, null, 2)}\n`);
    expect(existsSync(path), `${code}/expected.json is missing: run with UPDATE=1 and read it`).toBe(true);
    expect(found).toEqual(JSON.parse(readFileSync(path, 'utf8')));
    const own = found.filter(p => p.code === code);
    expect(own.length).toBeGreaterThan(0);
    for (const problem of found) expectWhole(problem);
    expect(new Set(found.map(p => p.code)), 'a fixture shows its own code only').toEqual(new Set([code]));
  });
});

function expectWhole({code, severity, file, line, column, message, hint}: Problem): void {
  expect(severity).toBe(codes[code]);
  expect(file).not.toBe('');
  expect(line).toBeGreaterThanOrEqual(1);
  expect(column).toBeGreaterThanOrEqual(1);
  for (const text of [message, hint]) {
    expect(text.trim()).not.toBe('');
    expect(text, 'nothing unprintable, nothing undefined').not.toMatch(/[\p{Cc}]|undefined|\[object/u);
  }
}

/** A place is where an editor jumps to: the text that stands there, a BOM not counted. */
function textAt(files: Record<string, string>, code: Code): string[] {
  const found = checkHome(parseHome(Object.entries(files).map(([path, text]) => ({path, text}))));
  return found
    .filter(p => p.code === code)
    .map(
      p =>
        files[p.file]
          ?.replace(/^\ufeff/, '')
          .split('\n')
          [p.line - 1]?.slice(p.column - 1) ?? '',
    );
}

describe('places', () => {
  const agent = 'id: a\ntype: planner\nsystem_prompt: Plan.\n';
  const cases: [what: string, code: Code, text: RegExp, files: Record<string, string>][] = [
    [
      'a task indented by a tab',
      'UNKNOWN_AGENT',
      /^(- \[ \]|@nobody)/,
      {'tasks/a.task.md': '- [ ] "P"\n\t- [ ] @nobody "Q"\n'},
    ],
    [
      'a field indented by tabs',
      'UNKNOWN_DEPENDENCY',
      /^(depends_on|mop)/,
      {'tasks/a.task.md': '- [ ] "P"\n\t- [ ] "Q"\n\t\tdepends_on: mop\n'},
    ],
    ['a field four spaces in', 'UNKNOWN_PARENT', /^(parent|mop)/, {'tasks/a.task.md': '- [ ] "P"\n    parent: mop\n'}],
    [
      'an inline field',
      'UNKNOWN_DEPENDENCY',
      /^(depends_on|mop)/,
      {'tasks/a.task.md': '- [ ] "P" id: p depends_on: mop\n'},
    ],
    [
      'an inline id, given twice',
      'DUPLICATE_ID',
      /^(id: )?p$/,
      {'tasks/a.task.md': '- [ ] "P" id: p\n', 'tasks/b.task.md': '- [ ] "Q" id: p\n'},
    ],
    [
      'a tool of the policy',
      'UNKNOWN_TOOL',
      /^(write_fil: )?ask/,
      {'allowlist.yaml': '# the policy\nversion: 1\ntools:\n  fetch: ask\n  write_fil: ask\n'},
    ],
    [
      'a misspelt key with its value below it',
      'LIKELY_TYPO',
      /^capabilites:/,
      {'templates/a.agent.yaml': `${agent}capabilites:\n\n  - read_file\n`},
    ],
    ...Object.entries({
      'clone: "ext::sh -c x"': ['BAD_VALUE', /^"ext::/],
      'clone: x, branch: a..b': ['BAD_VALUE', /^a\.\.b/],
      'clone: x, branch: HEAD': ['BAD_VALUE', /^HEAD/],
      'branch: main': ['MISSING_KEY', /^\{branch/],
    } satisfies Record<string, [Code, RegExp]>).map(([written, [code, text]]): (typeof cases)[number] => [
      `a workspace of {${written}}`,
      code,
      text,
      {'templates/a.agent.yaml': `${agent}capabilities: [read_file]\nworkspace: {${written}}\n`},
    ]),
    ['the first line after a BOM', 'BAD_VALUE', /^always/, {'agentdir.yaml': '\ufeffsandbox: always\n'}],
    [
      'a Markdown template whose name is no id',
      'BAD_ID',
      /^/,
      {
        'templates/two words.agent.md':
          '## Description\nReads.\n\n## Allowed Tools\n- read\n\n## System Prompt\nRead.\n',
      },
    ],
    [
      'a session whose name is no id',
      'BAD_ID',
      /^/,
      {
        'templates/a.agent.yaml': `${agent}capabilities: [read_file]\n`,
        'sessions/two words.session.yaml': 'agent_id: a\nmessages:\n  - role: user\n    content: Hi\n',
      },
    ],
  ];

  it.each(cases)('%s: %s', (_what, code, text, files) => {
    expect(textAt(files, code)).toEqual([expect.stringMatching(text)]);
  });
});
