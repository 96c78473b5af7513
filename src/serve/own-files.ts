import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {isDeepStrictEqual} from 'node:util';
import {parseFile} from '../check/parse-file.ts';
import {APPROVALS_FILE, type ApprovalItem} from '../files/approval-item.ts';
import {type DaySpend, type SpendFile, spendText} from '../files/spend-file.ts';
import {SPEND_FILE} from '../files/spent.ts';
import type {TaskFile} from '../files/task.ts';
import type {Outcome} from '../queue.ts';
import {completeQueue} from '../reconcile/budget.ts';
import type {Completed} from '../reconcile/complete.ts';
import {MARKER} from '../store/locate.ts';
import {askedFor} from './budget.ts';
import {recordOwn} from './record.ts';
import type {Serving} from './serving.ts';
import {take} from './state.ts';
import {createText} from './write.ts';

const WAIT_MS = 500;

const NEW_QUEUE = `# Approvals

What agents ask you to decide. Change \`[_]\` to \`[x]\` to approve, or to \`[-]\` to reject, and save.

## TODO
`;

/** The approval queue with what sessions ask for, and with what was decided. */
export async function settleQueue(
  serving: Serving,
  file: TaskFile & {items: readonly ApprovalItem[]},
): Promise<Completed | undefined> {
  serving.troubles.set('ask', undefined);
  // Who waits is looked up last: it may change while git is asked.
  const {name, email} = await serving.journal.person();
  const now = new Date().toISOString();
  const waiting = (id: string) => serving.waits.for(id).size;
  return completeQueue(file, {now, by: `${name} <${email}>`, asked: askedFor(serving), waiting});
}

/** What was used today, if that is not what the file says. */
export function settleSpend({spend}: Serving, file: SpendFile | undefined): Completed | undefined {
  const value = spend.value();
  if (!value || isDeepStrictEqual(value, file?.value && ours(file.value))) return undefined;
  const {turns, input_tokens, output_tokens, cost_usd} = spend.all;
  const tokens = (input_tokens + output_tokens).toLocaleString('en-US');
  return {
    text: spendText(value),
    words: `${value.day}: ${turns.toLocaleString('en-US')} ${turns === 1 ? 'turn' : 'turns'}, ${tokens} tokens, $${cost_usd.toFixed(2)}`,
    tasks: [],
  };
}

/** Without keys that are not ours. */
function ours({day, agents}: DaySpend): DaySpend {
  const own = Object.entries(agents).map(([name, {turns, input_tokens, output_tokens, cost_usd}]) => [
    name,
    {turns, input_tokens, output_tokens, cost_usd},
  ]);
  return {day, agents: Object.fromEntries(own)};
}

/** A file that the daemon needs and that is not there: make it, if there is something to write into it. */
export async function makeOwn(serving: Serving, path: string): Promise<Outcome> {
  if (path !== APPROVALS_FILE && path !== SPEND_FILE) return undefined;
  serving.nudged.delete(path);
  // Nothing is put where a home was unmounted or moved away.
  if (serving.loading || !existsSync(join(serving.home, MARKER))) return undefined;
  const parsed = parseFile(path, NEW_QUEUE);
  const completed =
    path === SPEND_FILE
      ? settleSpend(serving, undefined)
      : parsed?.kind === 'queue'
        ? await settleQueue(serving, parsed.file)
        : undefined;
  if (!completed) return undefined;
  if (serving.journal.unfinished()) return {after: WAIT_MS};
  const written = await createText(serving, path, completed.text);
  if ('outcome' in written) return written.outcome;
  take(serving, written.seen);
  const known = serving.known.get(path);
  if (known) known.ignored = await serving.ignored.has(path);
  recordOwn(serving, written.seen, {...completed, cause: causeOf(path)});
  return undefined;
}

/** What the journal says of why such a file was written. */
export function causeOf(path: string): string {
  return path === SPEND_FILE ? 'spend' : path === APPROVALS_FILE ? 'limit' : 'fill-in';
}
