import {agentName} from '../home.mjs';

/** People who write notes, and change agents and the policy. */
export function fileEdits(world) {
  const {random, ledger, hands, options} = world;
  const described = new Map();

  async function note() {
    const path = `memory/notes-${random.number(0, 4)}.md`;
    const line = `- ${ledger.mark()}: remember this`;
    const top = random.chance(0.3);
    const done = await hands.change(path, text => {
      if (!text.endsWith('\n')) return undefined;
      return top ? text.replace('\n', `\n${line}\n`) : `${text}${line}\n`;
    });
    if (done) ledger.lines.push({path, line, what: 'note'});
  }

  /** Its description is another each time; all else stays. */
  async function describe() {
    const path = `templates/${agentName(random.number(0, options.agents))}.agent.yaml`;
    const line = `description: does ${ledger.mark()}   # for now`;
    const change = text =>
      /^description:/m.test(text) ? text.replace(/^description:.*$/m, line) : text.replace(/^type:/m, `${line}\ntype:`);
    if (!(await hands.change(path, change, {fresh: true}))) return;
    const own = described.get(path) ?? {path, what: 'description'};
    if (!own.line) ledger.lines.push(own);
    own.line = line;
    described.set(path, own);
  }

  async function explainPolicy() {
    const line = `# ${ledger.mark()}: why not`;
    if (await hands.change('allowlist.yaml', text => (text.endsWith('\n') ? `${text}${line}\n` : undefined)))
      ledger.lines.push({path: 'allowlist.yaml', line, what: 'comment'});
  }

  /** A rule that nobody needs comes and goes. */
  const changePolicy = () =>
    hands.change(
      'allowlist.yaml',
      text =>
        text.includes('"uptime", ') ? text.replace('"uptime", ', '') : text.replace('allow: [', 'allow: ["uptime", '),
      {fresh: true},
    );

  return {note, describe, explainPolicy, changePolicy};
}
