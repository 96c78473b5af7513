import {expect, it} from 'vitest';
import {completeQueue} from '../../src/decide/queue.ts';
import {readApprovalItems} from '../../src/formats/approval/approval-item.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';

const item = (box: string) => `- [${box}] A @human #approval "Approve command: sh x.sh"
  id: one
  approval_type: terminal_command
  session: s
  status: pending
`;

/** What the queue becomes when the call of `one` was asked about anew. */
function superseded(box: string): string | undefined {
  const file = parseTasks(item(box));
  return completeQueue(
    {...file, ...readApprovalItems(file)},
    {
      now: '2026-01-02T03:04:05.000Z',
      by: 'Ada',
      asked: new Map(),
      waiting: () => 0,
      requests: [],
      taken: new Map(),
      outcomeOf: () => ({status: 'superseded', outcome: 'nothing was run; asked again as two'}),
      isGone: () => true,
      saidAt: () => undefined,
      againOf: () => undefined,
    },
  )?.text;
}

it.each([
  ['x', 'x', 'a yes that was not recorded yet, given while no daemon ran, say'],
  ['_', '-', 'nothing'],
])('superseded: [%s] becomes [%s], what the person said: %s', (before, after) => {
  expect(superseded(before)).toBe(
    `${item(after).replace('pending', 'superseded')}  outcome: nothing was run; asked again as two\n`,
  );
});
