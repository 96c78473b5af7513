import {isDeepStrictEqual} from 'node:util';
import type {CompletedFile} from '../../decide/complete.ts';
import {costWords, grouped, SPEND_FILE, type Spent} from '../../formats/session/spent.ts';
import {type SpendFile, spendText} from '../../formats/spend-file.ts';
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
  if (!value || isDeepStrictEqual(value, file?.value && {day: file.value.day, agents: file.value.agents})) {
    spend.written();
    return undefined;
  }
  return {
    text: spendText(value),
    words: `${value.day}: ${spentWords(spend.all)}`,
    tasks: [],
    joins: 'last',
    written: () => spend.written(),
  };
}

function spentWords(spent: Spent): string {
  const {turns, input_tokens, output_tokens} = spent;
  const tokens = input_tokens + output_tokens;
  const parts = [
    `${grouped(turns)} ${turns === 1 ? 'turn' : 'turns'}`,
    tokens === 0 ? '' : `${grouped(tokens)} tokens`,
    costWords(spent),
  ];
  return parts.filter(Boolean).join(', ');
}
