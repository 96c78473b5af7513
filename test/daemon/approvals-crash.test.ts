import {rmSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, describe, expect, it} from 'vitest';
import {type CrashLabel, crashLabels} from '../../src/store/crash.ts';
import {agentdir, git, put, thorough, until} from '../cli/run.ts';
import {
  ASKER,
  countingScenes,
  decideFor,
  expectOnce,
  isOver,
  persistent,
  questionFor,
  type SceneName,
  scenes,
} from './approval-scenes.ts';
import {askedBy, itemsOf} from './deciding.ts';
import {type Served, serve, spawnDaemon} from './serve.ts';
import {expectSound, homes} from './sound.ts';
import {pathOf} from './talk.ts';

const model = await persistent();
afterAll(() => model.close());
const newHome = homes(ASKER);
const env = {OPENAI_BASE_URL: model.url};

interface Case {
  id: string;
  scene: SceneName;
  crash: `${CrashLabel}:${number}`;
}

const isDead = ({child}: Served) => child.signalCode !== null || child.exitCode !== null;

/** One daemon, killed there while this is decided, or just before; whether it came so far. */
async function crashAt(home: string, {id, scene, crash}: Case, before: boolean): Promise<boolean> {
  if (before) decideFor(home, id, scene);
  const daemon = spawnDaemon(home, {...env, AGENTDIR_CRASH_AT: crash});
  await until(
    () => isDead(daemon) || daemon.events.some(({event}) => event === 'serving'),
    yes => yes,
  );
  if ('allowed' in scenes[scene]) put(home, {[pathOf(id)]: questionFor(id, scene)});
  await until(
    async () => {
      if (isDead(daemon)) return true;
      // Its page may still have to be made: then there is nothing to decide before that.
      decideFor(home, id, scene);
      return isOver(home, id) && (await git(home, 'status', '--porcelain')) === '';
    },
    yes => yes,
  );
  const died = isDead(daemon);
  await daemon.kill();
  return died;
}

/** All are asked about; then a daemon is killed for each, and the last one does what is left. */
async function killAndLook(cases: readonly Case[]): Promise<{home: string; missed: Case[]}> {
  const home = newHome();
  const asked = cases.filter(({scene}) => !('allowed' in scenes[scene]));
  put(home, Object.fromEntries(asked.map(({id, scene}) => [pathOf(id), questionFor(id, scene)])));
  const first = spawnDaemon(home, env);
  for (const {id} of asked) await askedBy(home, id);
  expect(await first.stop(), first.errors()).toBe(0);
  const missed: Case[] = [];
  for (const [i, one] of cases.entries()) if (!(await crashAt(home, one, i % 2 === 0))) missed.push(one);
  const last = await serve(home, env);
  await until(
    async () => {
      for (const {id, scene} of cases) decideFor(home, id, scene);
      const open = cases.filter(({id}) => !isOver(home, id)).map(({id}) => id);
      return {open, status: open.length > 0 ? '' : await git(home, 'status', '--porcelain')};
    },
    ({open, status}) => open.length === 0 && status === '',
  );
  expect(await last.stop(), last.errors()).toBe(0);
  for (const {id, scene} of cases) expectOnce(home, id, scene);
  await expectSound(home);
  // Pages are put where decided ones are by the daemon, killed or not.
  expect(await git(home, 'log', '--format=%an: %s', '--', 'approvals/approved', 'approvals/rejected')).not.toMatch(
    /created by hand/,
  );
  expect(model.violations).toEqual([]);
  expect(model.errors).toEqual([]);
  return {home, missed};
}

/** Nothing of these lies between a decision and its result; those of messages to people outside are killed in test/daemon/connectors.test.ts. */
const elsewhere: readonly CrashLabel[] = [
  ...(['conflict-write', 'spawn-background', 'journal-pack', 'delivery', 'set-aside', 'aside-write'] as const),
  ...(['inbox-append', 'inbox-appended', 'message-sent', 'undo-mark'] as const),
];
const names = Object.keys(scenes) as SceneName[];

describe('killed between a decision and the result', () => {
  it('nothing is run twice, and nothing is lost', async () => {
    const {missed} = await killAndLook([
      {id: 'a', scene: 'always', crash: 'save-rename:2'},
      {id: 'b', scene: 'allowed', crash: 'spawn-command:1'},
      {id: 'c', scene: 'a note', crash: 'move:1'},
    ]);
    expect(missed).toEqual([]);
  });

  it.each(['on its page', 'ticked'] as const)(
    "%s: it is known as the person's, although nothing could be committed meanwhile",
    async scene => {
      const home = newHome();
      put(home, {[pathOf('p')]: questionFor('p', scene)});
      const first = spawnDaemon(home, env);
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
      rmSync(join(home, '.git/index.lock'));
      const last = await serve(home, env);
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

  // FUZZ=1 npx vitest run test/daemon/approvals-crash.test.ts tries every scene at every passage.
  // Neighbours within one write leave the same on disk: of those the first passages do.
  const most = (label: CrashLabel) => {
    if (process.env.FUZZ) return 14;
    return /^(?:save|journal-ref)-rename$|^[^-]+$/.test(label) ? 5 : 1;
  };
  const labels = thorough ? crashLabels.filter(label => !elsewhere.includes(label)) : [];
  const threes = Array.from({length: Math.ceil(labels.length / 3)}, (_, i) => labels.slice(3 * i, 3 * i + 3));
  it.each(threes.map(three => ({three, name: three.join(', ')})))(
    '$name: the same, at each passage',
    async ({three}) => {
      for (const turn of process.env.FUZZ ? names.keys() : [0]) {
        const results = await Promise.allSettled(three.map(label => passages(label, turn)));
        for (const result of results) if (result.status === 'rejected') throw result.reason;
      }
    },
    1_200_000,
  );

  async function passages(label: CrashLabel, turn: number): Promise<void> {
    // The first passage is always one of an approved command that counts. A call is begun and ended once: there each scene
    // is killed at the first passage.
    const once = /^call-|^spawn-command$/.test(label);
    const cases = Array.from({length: once ? names.length : most(label)}, (_, n): Case => {
      const from = n === 0 && !once ? countingScenes : names;
      const scene = from[(n * 3 + labels.indexOf(label) + turn) % from.length] ?? 'ticked';
      return {id: `s${n}`, scene, crash: `${label}:${once ? 1 : n + 1}`};
    });
    const {missed} = await killAndLook(cases);
    const counting = cases.filter(({scene, crash}) => countingScenes.includes(scene) && crash === `${label}:1`);
    expect(counting.length).toBeGreaterThan(0);
    expect(missed.filter(one => counting.includes(one))).toEqual([]);
  }
});
