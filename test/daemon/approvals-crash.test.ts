import {rmSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {agentdir, git, put, until} from '../cli/run.ts';
import {approvalKills, tryEach} from './approval-kills.ts';
import {decideFor, expectOnce, isOver, questionFor} from './approval-scenes.ts';
import {askedBy, itemsOf} from './deciding.ts';
import {serve, spawnDaemon} from './serve.ts';
import {expectSound} from './sound.ts';
import {pathOf} from './talk.ts';

const kills = await approvalKills();

describe('killed between a decision and the result', () => {
  it('nothing is run twice, and nothing is lost', async () => {
    const missed = await kills.killAndLook([
      [
        {id: 'a', scene: 'always', crash: 'save-rename:2'},
        {id: 'b', scene: 'allowed', crash: 'spawn-command:1'},
        {id: 'c', scene: 'a note', crash: 'move:1'},
      ],
    ]);
    expect(missed).toEqual([]);
  });

  it.each(['on its page', 'ticked'] as const)(
    "%s: it is known as the person's, although nothing could be committed meanwhile",
    async scene => {
      const home = kills.newHome();
      put(home, {[pathOf('p')]: questionFor('p', scene)});
      const first = spawnDaemon(home, kills.env);
      await askedBy(home, 'p');
      const isClean = async () => (await git(home, 'status', '--porcelain')) === '';
      await until(isClean, yes => yes);
      put(home, {'.git/index.lock': ''});
      decideFor(home, 'p', scene);
      await until(
        () => itemsOf(home)[0]?.outcome,
        outcome => outcome !== undefined,
      );
      await first.kill();
      rmSync(join(home, '.git/index.lock'), {force: true});
      const last = await serve(home, kills.env);
      await until(
        async () => isOver(home, 'p') && (await isClean()),
        yes => yes,
      );
      expect(await last.stop(), last.errors()).toBe(0);
      expectOnce(home, 'p', scene);
      expect(JSON.parse((await agentdir(home, ['verify', '--json'])).stdout)).toMatchObject({
        executions: 1,
        findings: [],
      });
      await expectSound(home);
    },
  );

  tryEach(kills);
});
