import {afterAll, expect, it} from 'vitest';
import {type CrashLabel, crashLabels} from '../../src/home/disk/crash.ts';
import {git, put, until} from '../cli/run.ts';
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
import {askedBy} from './deciding.ts';
import {type Served, serve, spawnDaemon} from './serve.ts';
import {expectSound, homes} from './sound.ts';
import {pathOf} from './talk.ts';

interface Case {
  id: string;
  scene: SceneName;
  crash: `${CrashLabel}:${number}`;
}

const isDead = ({child}: Served) => child.signalCode !== null || child.exitCode !== null;

export interface Kills {
  newHome: () => string;
  env: NodeJS.ProcessEnv;
  /** Those cases whose daemon was not killed. */
  killAndLook: (groups: readonly (readonly Case[])[]) => Promise<Case[]>;
}

/** For a file of tests: its model and its homes. */
export async function approvalKills(): Promise<Kills> {
  const model = await persistent();
  afterAll(() => model.close());
  const newHome = homes(ASKER);
  const env = {OPENAI_BASE_URL: model.url};
  const killAndLook = async (groups: readonly (readonly Case[])[]) => {
    const home = newHome();
    const missed = await killEach(home, groups, env);
    for (const {id, scene} of groups.flat()) expectOnce(home, id, scene);
    await expectSound(home);
    // Pages are put where decided ones are by the daemon, killed or not.
    expect(await git(home, 'log', '--format=%an: %s', '--', 'approvals/approved', 'approvals/rejected')).not.toMatch(
      /created by hand/,
    );
    expect(model.violations).toEqual([]);
    expect(model.errors).toEqual([]);
    return missed;
  };
  return {newHome, env, killAndLook};
}

/** All are asked about; then a daemon is killed for each. After each group one does what is left: the next has nothing of that to pass. */
async function killEach(home: string, groups: readonly (readonly Case[])[], env: NodeJS.ProcessEnv): Promise<Case[]> {
  const asked = groups.flat().filter(({scene}) => !('allowed' in scenes[scene]));
  put(home, Object.fromEntries(asked.map(({id, scene}) => [pathOf(id), questionFor(id, scene)])));
  const first = spawnDaemon(home, env);
  for (const {id} of asked) await askedBy(home, id);
  expect(await first.stop(), first.errors()).toBe(0);
  const missed: Case[] = [];
  for (const cases of groups) {
    for (const [i, one] of cases.entries()) if (!(await crashAt(home, one, i % 2 === 0, env))) missed.push(one);
    await finish(home, cases, env);
  }
  return missed;
}

/** One daemon, killed there while this is decided, or just before; whether it came so far. */
async function crashAt(
  home: string,
  {id, scene, crash}: Case,
  before: boolean,
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
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

/** Until each is over, and git has it; by a daemon that nobody kills. */
async function finish(home: string, cases: readonly Case[], env: NodeJS.ProcessEnv): Promise<void> {
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
}

/** Nothing of these lies between a decision and its result; those of messages to people outside are killed in test/daemon/connectors.test.ts. */
const elsewhere: readonly CrashLabel[] = [
  ...([
    'conflict-write',
    'spawn-background',
    'journal-pack',
    'delivery',
    'set-aside',
    'version-append',
    'version-sync',
  ] as const),
  ...(['inbox-append', 'inbox-appended', 'message-sent', 'command-note'] as const),
];
/**
 * Labels whose place in the life of an approval matters. The others are killed in crash-labels.test.ts, and in simulation at every step of
 * lives with approvals.
 */
const telling: readonly CrashLabel[] = [
  'move',
  'remove',
  'workspace-commit',
  'call-start',
  'call-end',
  'spawn-command',
];
const names = Object.keys(scenes) as SceneName[];

// FUZZ=1 npx vitest run test/daemon/approvals-crash tries every label, scene and passage.
const MOST_PASSAGES = process.env.FUZZ ? 14 : 1;
const SCENES = process.env.FUZZ ? Number.POSITIVE_INFINITY : 2;
const labels = process.env.FUZZ ? crashLabels.filter(label => !elsewhere.includes(label)) : telling;
/** Three share a home. */
const threes = Array.from({length: Math.ceil(labels.length / 3)}, (_, i) => labels.slice(3 * i, 3 * i + 3));

/** What holds at each passage of these labels. */
export function tryEach({killAndLook}: Kills): void {
  it.each(threes.map(three => ({three, name: three.join(', ')})))(
    '$name: the same, at each passage',
    async ({three}) => {
      for (const turn of process.env.FUZZ ? names.keys() : [0]) {
        const groups = three.map(label => passages(label, turn));
        const missed = await killAndLook(groups);
        for (const cases of groups) {
          const counting = cases.filter(({scene, crash}) => countingScenes.includes(scene) && crash.endsWith(':1'));
          expect(counting.length).toBeGreaterThan(0);
          expect(missed.filter(one => counting.includes(one))).toEqual([]);
        }
      }
    },
    1_200_000,
  );
}

function passages(label: CrashLabel, turn: number): Case[] {
  // The first passage is always one of an approved command that counts. A call is begun and ended once: there scenes
  // are killed at the first passage.
  const once = /^call-|^spawn-command$/.test(label);
  return Array.from({length: once ? Math.min(SCENES, names.length) : MOST_PASSAGES}, (_, n): Case => {
    const from = n === 0 ? countingScenes : names;
    const scene = from[(n * 3 + labels.indexOf(label) + turn) % from.length] ?? 'ticked';
    return {id: `${label}-${n}`, scene, crash: `${label}:${once ? 1 : n + 1}`};
  });
}
