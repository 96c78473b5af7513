import {readFileSync} from 'node:fs';
import remarkParse from 'remark-parse';
import {unified} from 'unified';
import {parse} from 'yaml';
import {parseAllowlist, parseApproval, parseMarkdownTemplate, parsePlaybook, parseTemplate} from '../dist/index.js';
import {mediansInTurns, rounds, table, times} from './measure.mjs';
import {row} from './row.mjs';

const read = path => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const repeat = (text, count) => Array.from({length: count}, () => text).join('\n');

/** The other formats, as shipped, against the raw library that reads the same text. */
export default function markdown() {
  const remark = text => unified().use(remarkParse).parse(text);
  const rows = [];
  const add = (name, text, ours, raw) => {
    const least = text.length > 1e6 ? 1 : 5;
    const {mine, theirs} = mediansInTurns({mine: () => ours(text), theirs: () => raw(text)}, {least});
    rows.push([name, text.length / 1000, theirs, mine, times(mine, theirs)]);
    row(name, {ours: mine, baseline: {name: raw === parse ? 'yaml.parse' : 'remark', value: theirs}});
  };
  add(
    'planner-001.agent.yaml',
    read('templates/planner-001.agent.yaml'),
    text => parseTemplate(text, 'planner-001'),
    parse,
  );
  add('allowlist.yaml', read('allowlist.yaml'), parseAllowlist, parse);
  add('first-run.playbook.yaml', read('playbooks/first-run.playbook.yaml'), parsePlaybook, parse);
  add(
    'general-purpose.agent.md',
    read('templates/general-purpose.agent.md'),
    text => parseMarkdownTemplate(text, 'general-purpose'),
    remark,
  );
  const prompt = read('templates/general-purpose.agent.md');
  // remark needs 20 s and more for one 1,000 times as long.
  for (const count of rounds([10, 100, 1000], [10, 100]))
    add(
      `a prompt ${count} times as long`,
      prompt + repeat(prompt.slice(prompt.indexOf('###')), count),
      text => parseMarkdownTemplate(text, 'x'),
      remark,
    );
  const dossier = `# Approval Request: a-1\nagent: x\nstatus: pending\n\n## Proposed Action\n\n**Command:**\n\`\`\`\`sh\n${repeat('- [x] **Decision:** APPROVED', 2000)}\n\`\`\`\`\n\n## Review\n\n**Decision:**\n`;
  add('an approval of 2,000 lines', dossier, parseApproval, remark);
  table('other formats', ['file', 'KB', 'library, ms', 'ours, ms', 'ratio'], rows);
}
