import {readdirSync} from 'node:fs';
import {basename, join} from 'node:path';
import {APPROVALS_FILE, readApprovalItems} from '../../dist/formats/approval/approval-item.js';
import {parseSession} from '../../dist/formats/session/session.js';
import {fieldOf} from '../../dist/formats/task/task.js';
import {parseTasks} from '../../dist/formats/task/task-parse.js';
import {readText} from '../editors.mjs';
import {agentdir} from '../run-command.mjs';

const pagePath = id => `approvals/pending/${id}.approval.md`;

/** What was decided while a command ran outside the sandbox, or in an old buffer, does not count and is asked for again. */
const AGAIN_MS = 4_000;

/** What waits for a decision that we have not made just now. */
export function openItems(world) {
  const text = readText(join(world.home, APPROVALS_FILE)) ?? '';
  return readApprovalItems(parseTasks(text)).items.filter(
    ({id, status, decision}) =>
      id &&
      status === 'pending' &&
      decision === undefined &&
      performance.now() - (world.ledger.decisions.get(id)?.at ?? Number.NEGATIVE_INFINITY) > AGAIN_MS,
  );
}

/** Whoever decides: in the queue, on the page or from the shell; yes, no, or otherwise. */
export function approvalEdits(world) {
  const {random, ledger, hands, home} = world;

  async function decide() {
    const item = random.pick(openItems(world));
    if (!item || readText(join(home, pagePath(item.id))) === undefined) return;
    const question = item.type === 'question';
    const yes = question || random.chance(0.7);
    const wanted = {
      decision: yes ? 'approved' : 'rejected',
      call: item.call,
      session: item.session,
      command: item.command,
      edited: undefined,
      answer: question ? `it is ${ledger.mark()}` : undefined,
    };
    if (yes && item.command && random.chance(0.25))
      wanted.edited = item.command.replace(/^echo n(\d+) /, 'echo edited-n$1 ');
    const how = wanted.edited
      ? inQueue
      : random.weighted([
          [4, inQueue],
          [3, onPage],
          [1, fromShell],
        ]);
    if (!(await how(item, wanted))) return;
    const saved = new Date().toISOString();
    // Decided before, in a way that the daemon had taken meanwhile: what ran when this was saved is not what it says.
    if (ledger.decisions.has(item.id) && (startOf(item) ?? saved) < saved) return;
    ledger.decisions.set(item.id, {...wanted, at: performance.now()});
    ledger.counts.approvals++;
  }

  /** When the call that asked was started, if it was. */
  function startOf({session, call, id}) {
    const name = `${session}.session.yaml`;
    const path = readdirSync(join(home, 'sessions'), {recursive: true}).find(each => basename(each) === name);
    const {messages} = parseSession((path && readText(join(home, 'sessions', path))) ?? '');
    const calls = messages.flatMap(({tool_calls = []}) => tool_calls);
    return calls.find(each => each.id === call && each.approval === id)?.started;
  }

  const inQueue = ({id}, {decision, edited, answer}) =>
    hands.change(APPROVALS_FILE, text => {
      const lines = text.split('\n');
      const at = lines.indexOf(`  id: ${id}`);
      const head = lines.findLastIndex((line, index) => index < at && line.startsWith('- ['));
      if (at < 0 || !lines[head]?.startsWith('- [_]')) return undefined;
      lines[head] = lines[head].replace('[_]', decision === 'approved' ? '[x]' : '[-]');
      const end = lines.findIndex((line, index) => index > head && line.startsWith('- ['));
      const command = lines.findIndex(
        (line, index) => index > head && (end < 0 || index < end) && line.startsWith('  command: '),
      );
      if (edited && command > 0) lines[command] = `  command: ${edited}`;
      if (answer) lines.splice(at + 1, 0, `  answer: ${answer}`);
      return lines.join('\n');
    });

  const onPage = ({id}, {decision, answer}) =>
    hands.change(
      pagePath(id),
      text => {
        if (!/^\*\*Decision:\*\* <!--.*-->$/m.test(text)) return undefined;
        const decided = text.replace(/^\*\*Decision:\*\* <!--.*-->$/m, `**Decision:** ${decision.toUpperCase()}`);
        return answer ? decided.replace(/^\*\*Answer:\*\*.*$/m, `**Answer:** ${answer}`) : decided;
      },
      {fresh: true},
    );

  async function fromShell({id}, {decision, answer}) {
    const args = decision === 'approved' ? ['approve', id] : ['reject', id, '--reason', 'not today'];
    const {code} = await agentdir(home, ...args, ...(answer ? ['--answer', answer] : []));
    return code === 0;
  }

  /** A yes that was given, taken back on the page: no wins, unless it ran already. */
  async function regret() {
    const given = [...ledger.decisions].filter(([, {decision, edited}]) => decision === 'approved' && !edited);
    const [id, wanted] = given.length > 0 ? random.pick(given.slice(-5)) : [];
    if (!id) return;
    const text = readText(join(home, APPROVALS_FILE)) ?? '';
    const item = readApprovalItems(parseTasks(text)).items.find(each => each.id === id);
    if (!item || item.type === 'question' || fieldOf(item.task, 'executed_at')) return;
    const done = await hands.change(
      pagePath(id),
      page => {
        const line = /^\*\*Decision:\*\*.*$/m;
        return line.test(page) ? page.replace(line, '**Decision:** REJECTED') : undefined;
      },
      {fresh: true},
    );
    if (done) wanted.regretted = true;
  }

  return {decide, regret};
}
