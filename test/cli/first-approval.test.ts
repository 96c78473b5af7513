import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, it} from 'vitest';
import {itemsOf, pagesIn} from '../daemon/deciding.ts';
import {agentdir, newHome, startAgentdir, until} from './run.ts';

/** What README.md tells a stranger to do, without an API key. */
it('the first approval: asked offline, ticked in an editor, run once, shown, taken back and verified', async () => {
  const home = await newHome();
  await agentdir(home, ['send', 'show me an approval', '--to', 'executor-001']);
  const daemon = startAgentdir(home, ['start']);
  const asked = (nth: number) =>
    until(
      () => itemsOf(home)[nth]?.id ?? '',
      id => pagesIn(home, 'pending').includes(id),
    );
  const ended = (nth: number) =>
    until(
      () => itemsOf(home)[nth],
      item => item?.outcome !== undefined || item?.status === 'rejected',
    );
  const id = await asked(0);
  expect(itemsOf(home)).toMatchObject([{status: 'pending', agent: 'executor-001', type: 'terminal_command'}]);
  await until(
    () => readFileSync(join(home, 'NEEDS_YOU.md'), 'utf8'),
    text => text.includes(id),
  );
  const made = join(home, 'workspaces/executor-001/hello.txt');
  expect(existsSync(made)).toBe(false);

  const queue = join(home, 'tasks/approvals.task.md');
  writeFileSync(queue, readFileSync(queue, 'utf8').replace('- [_]', '- [x]'));
  expect(await ended(0)).toMatchObject({
    status: 'approved',
    by: 'Ada <ada@example.org>',
    outcome: 'done, exit code 0',
  });
  expect(readFileSync(made, 'utf8')).toBe('Hello from executor-001\n');
  expect(pagesIn(home, 'approved')).toEqual([id]);
  expect((await agentdir(home, ['workspace', 'diff', 'executor-001'])).stdout).toContain('+Hello from executor-001');
  expect((await agentdir(home, ['workspace', 'undo', 'executor-001'])).code).toBe(0);
  expect(existsSync(made)).toBe(false);

  // A no ends it, and the playbook does not take it for a step of another of its stories.
  await agentdir(home, ['send', 'show me an approval', '--to', 'executor-001']);
  expect((await agentdir(home, ['reject', await asked(1), '--reason', 'not now'])).code).toBe(0);
  expect(await ended(1)).toMatchObject({status: 'rejected', reason: 'not now'});
  await until(
    () => agentdir(home, ['peek', '--to', 'executor-001']),
    ({stdout}) => stdout.includes('The command did not run (REJECTED)'),
  );
  expect(existsSync(made)).toBe(false);
  daemon.child.kill('SIGINT');
  expect((await daemon.ended).code).toBe(0);
  expect(await agentdir(home, ['verify'])).toMatchObject({code: 0, stdout: expect.stringContaining('1 execution')});
});
