import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import fc from 'fast-check';
import type {Link, Nodes} from 'mdast';
import remarkParse from 'remark-parse';
import {unified} from 'unified';
import {describe, expect, it} from 'vitest';
import {HomeIndex} from '../../src/check/home-index.ts';
import type {Need} from '../../src/check/need.ts';
import {type NeedsYouInput, needsYou} from '../../src/check/needs-you.ts';
import {factsOf} from '../../src/check/read-facts.ts';
import {problem} from '../../src/formats/common/diagnostic.ts';
import {anyText, runs} from '../arbitrary.ts';

const fixtures = fileURLToPath(new URL('../fixtures/needs-you/', import.meta.url));
const update = process.env.UPDATE === '1';

/** What the daemon would write for these files. */
function inputOf(files: Record<string, string>, more: Partial<NeedsYouInput> = {}): NeedsYouInput {
  const index = new HomeIndex();
  for (const [path, text] of Object.entries(files)) index.set(path, factsOf(path, text));
  index.settle();
  return {
    problems: index.all(),
    needs: index.needs(),
    troubles: [],
    sinceOf: () => '2025-10-04T12:00:00.000Z',
    home: 'home',
    pageOf: id => index.definitionsOf(`page/${id}`).at(-1)?.path,
    ...more,
  };
}

const template = 'id: a\ntype: t\nsystem_prompt: p\ncapabilities: [read_file]\n';
const page = (id: string) => `# Approval Request: ${id}\n\n## Review\n\n**Decision:**\n`;
const many = Array.from({length: 300}, (_, i) => `- [ ] @human "Task ${i}"\n  id: t${i}\n`).join('');
const wrong = Array.from({length: 60}, (_, i) => `- [ ] @nobody-${i} "Task ${i}"\n`).join('');

const cases: Record<string, NeedsYouInput> = {
  nothing: inputOf({'templates/a.agent.yaml': template}),
  'only-warnings': inputOf({'templates/a.agent.yaml': template.replace('read_file', 'raed_file')}),
  everything: inputOf(
    {
      'templates/a.agent.yaml': template,
      'sessions/s.session.yaml':
        "agent_id: a\nstatus: error\nerror: 'no answer from the model: 503'\nupdated: '2025-10-04T09:00:00.000Z'\nmessages: []\n",
      'sessions/t.session.yaml': 'agent_id: aa\nmessages: []\n',
      'tasks/approvals.task.md':
        '## TODO\n\n- [_] @human "Approve: nobody knows what"\n- [_] @human "Approve command: docker ps"\n  id: p-1\n  agent: a\n  created: 2025-10-04T10:00:00.000Z\n- [_] @human "Approve command: ls"\n  id: p-2\n  agent: a\n  created: 2025-10-04T11:00:00.000Z\n- [x] @human "Approved"\n  id: p-3\n',
      'tasks/archive/approvals-2025-09.task.md': '- [_] @human "Approve: too late"\n  id: p-0\n- [_] @human "No id"\n',
      'approvals/pending/p-1.approval.md': page('p-1'),
      'approvals/pending/p-2.approval.md': page('p-2'),
      'tasks/my day (1).task.md':
        '## TODO\n\n- [ ] @human "Pay the bill"\n  id: pay\n  created: 2025-10-04\n- [/] @human "Write"\n- [!] @human "Ask"\n- [x] @human "Done"\n- [ ] @a "Not for you"\n- [ ] "Ask @a"\n',
      'conflicts/a.task.md': '- [ ] "mine"\n',
    },
    {
      troubles: [
        {what: 'the journal waits: a rebase is in progress', since: '2025-10-04T12:30:00.000Z'},
        {what: 'approval p-3: it is not signed', since: '2025-10-04T12:40:00.000Z', decision: true},
      ],
    },
  ),
  'too-many': inputOf({'tasks/many.task.md': many, 'tasks/wrong.task.md': wrong, 'conflicts/x.md': 'x'}),
  hostile: inputOf(
    {
      'tasks/a](http:evil) `b`.task.md':
        '- [ ] @human "`` ` [x](http://evil) ## Files <script>"\n  id: "a\\n- [y](z)"\n- [ ] @human "rtl \u202e\u2066 text"\n',
    },
    {home: 'my `home`\n# Heading', troubles: [{what: 'one\n\n## Two\n- three', since: 'never'}]},
  ),
};

describe('NEEDS_YOU.md', () => {
  it.each(Object.keys(cases))('%s', name => {
    const text = needsYou(cases[name] as NeedsYouInput);
    const path = `${fixtures}${name}.md`;
    if (update) writeFileSync(path, text);
    expect(existsSync(path), `${path} is missing: run with UPDATE=1 and read it`).toBe(true);
    expect(text).toBe(readFileSync(path, 'utf8'));
    expect(text.split('\n').filter(line => line.startsWith('- ')).length).toBeLessThanOrEqual(206);
  });

  it('the order of what is given makes no difference', () => {
    const input = cases.everything as NeedsYouInput;
    const turned = {...input, problems: [...input.problems].reverse(), needs: [...input.needs].reverse()};
    expect(needsYou(turned)).toBe(needsYou(input));
  });

  it('nothing that anybody writes can forge an item, a heading or a link', () => {
    const nasty = fc.oneof(
      anyText,
      fc
        .array(
          fc.constantFrom(
            '`',
            '``',
            '[',
            ']',
            '(',
            ')',
            '\n',
            '- ',
            '# ',
            '<b>',
            '*',
            '\\',
            '_',
            '|',
            '~',
            '!',
            ' ',
            'a',
            '\u202e',
            '\ud800',
            '&lt;',
            'http://x',
          ),
          {maxLength: 20},
        )
        .map(parts => parts.join('')),
    );
    fc.assert(
      fc.property(nasty, nasty, nasty, nasty, (title, path, message, home) => {
        const at = `tasks/${path}`;
        const need: Need & {path: string} = {
          what: 'task',
          id: title,
          title,
          line: 3,
          since: message,
          state: 'pending',
          path: at,
        };
        const text = needsYou({
          problems: [problem('BAD_BOX', {line: 1, column: 1}, message, title, at)],
          needs: [need],
          troubles: [{what: message, since: title}],
          sinceOf: () => title,
          home,
        });
        const tree = unified().use(remarkParse).parse(text);
        const kinds = new Map<string, number>();
        const links: Link[] = [];
        const visit = (node: Nodes): void => {
          kinds.set(node.type, (kinds.get(node.type) ?? 0) + 1);
          if (node.type === 'link') links.push(node);
          if ('children' in node) for (const child of node.children) visit(child);
        };
        visit(tree);
        expect(Object.fromEntries(kinds)).toMatchObject({heading: 4, list: 3, listItem: 3, link: 2});
        for (const kind of kinds.keys())
          expect(['root', 'heading', 'list', 'listItem', 'paragraph', 'text', 'inlineCode', 'link']).toContain(kind);
        for (const link of links)
          expect(decodeURIComponent(link.url.replace(/#L\d+$/, ''))).toBe(at.replace(/\p{Surrogate}/gu, '\ufffd'));
      }),
      runs(300),
    );
  });
});
