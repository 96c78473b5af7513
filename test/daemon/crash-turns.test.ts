import {afterAll, expect, it} from 'vitest';
import {type CrashLabel, crashLabels} from '../../src/home/disk/crash.ts';
import {git, put, until} from '../cli/run.ts';
import {answering, expectWellTold, isAnswered, WORKER} from './answering.ts';
import {read, spawnDaemon} from './serve.ts';
import {expectSound, homes} from './sound.ts';
import {leastForm, pathOf} from './talk.ts';

const model = await answering();
afterAll(() => model.close());
const newHome = homes(WORKER);

/**
 * A message is filled in, answered with calls, one of them is marked as started, their results are recorded, and the
 * last answer is: five writes. crash-labels.test.ts kills at the first of them, this at the mark and the results; with FUZZ at each save, as the simulation does at every step.
 */
const writes = process.env.FUZZ ? [2, 3, 4, 5] : [];
const times: Partial<Record<CrashLabel, readonly number[]>> = {
  'turn-ask': [2],
  'turn-answer': [2],
  'call-start': [2, 3],
  'call-end': [2, 3],
  'spawn-command': [1],
};
const crashes = crashLabels
  .filter(label => /^(?:save|turn|call)-|^spawn-command$/.test(label))
  .flatMap(label => (times[label] ?? writes).map(passage => ({label, passage})));

it('killed at each write of a turn, again and again: nothing is lost, nothing is done twice', async () => {
  const home = newHome();
  const env = {OPENAI_BASE_URL: model.url};
  const questions: string[] = [];
  const missed: string[] = [];
  for (const {label, passage} of crashes) {
    const question = `write ${label} ${passage}`;
    const path = pathOf(`talk${questions.length}`);
    put(home, {[path]: leastForm(question, 'worker')});
    questions.push(question);
    const daemon = spawnDaemon(home, {...env, AGENTDIR_CRASH_AT: `${label}:${passage}`});
    await until(
      () => daemon.child.signalCode !== null || isAnswered(read(home, path), 1),
      yes => yes,
    );
    if (daemon.child.signalCode === null) missed.push(question);
    await daemon.kill();
  }
  expect(missed).toEqual([]);
  const last = spawnDaemon(home, env);
  const left = () => questions.filter((_, i) => !isAnswered(read(home, pathOf(`talk${i}`)), 1));
  await until(
    async () => ({left: left(), status: await git(home, 'status', '--porcelain')}),
    ({left, status}) => left.length === 0 && status === '',
  );
  expect(await last.stop(), last.errors()).toBe(0);
  await expectSound(home);
  for (const [i, question] of questions.entries()) expectWellTold(home, pathOf(`talk${i}`), [question]);
  expect(model.violations).toEqual([]);
  expect(model.errors).toEqual([]);
});
