import {describe} from 'vitest';
import {approvalKills, threes, tryEach} from './approval-kills.ts';

const kills = await approvalKills();

// With approvals-crash-1.test.ts.
describe('killed between a decision and the result', () => {
  tryEach(threes.slice(6), kills);
});
