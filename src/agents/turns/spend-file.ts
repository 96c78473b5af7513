import {isDeepStrictEqual} from 'node:util';
import type {CompletedFile} from '../../decide/complete.ts';
import {SPEND_FILE} from '../../formats/session/spent.ts';
import {type DaySpend, type SpendFile, spendText} from '../../formats/spend-file.ts';
import type {Reconciler} from '../../loop/reconciler.ts';
import {loadSpend} from '../sessions/budget.ts';
import {plannedWriteOf} from '../state/completed-write.ts';
import type {With} from '../state/parts.ts';
import type {Spend} from '../state/spend.ts';

/** state/spend.yaml: what agents have used today. */
export function spendReconciler(daemon: With<'files' | 'spend'>): Reconciler {
  const {spend} = daemon;
  return {
    kind: 'state',
    owns: path => path === SPEND_FILE,
    settle: ({parsed}) =>
      parsed?.kind === 'state' ? plannedWriteOf(settleSpend(spend, parsed.file), 'spend') : undefined,
    create: () => plannedWriteOf(settleSpend(spend, undefined), 'spend'),
    started() {
      loadSpend(daemon);
      return [];
    },
  };
}

/** Today's usage, if it differs from the file. */
function settleSpend(spend: Spend, file: SpendFile | undefined): CompletedFile | undefined {
  const value = spend.value();
  if (!value || isDeepStrictEqual(value, file?.value && knownKeys(file.value))) return undefined;
  const {turns, input_tokens, output_tokens, cost_usd} = spend.all;
  const tokens = (input_tokens + output_tokens).toLocaleString('en-US');
  return {
    text: spendText(value),
    words: `${value.day}: ${turns.toLocaleString('en-US')} ${turns === 1 ? 'turn' : 'turns'}, ${tokens} tokens, $${cost_usd.toFixed(2)}`,
    tasks: [],
  };
}

/** The value without unknown keys. */
function knownKeys({day, agents}: DaySpend): DaySpend {
  const own = Object.entries(agents).map(([name, {turns, input_tokens, output_tokens, cost_usd}]) => [
    name,
    {turns, input_tokens, output_tokens, cost_usd},
  ]);
  return {day, agents: Object.fromEntries(own)};
}
