import {WISHES, type Wish} from './agents.ts';
import type {Death} from './process.ts';
import {SeededRandom} from './random.ts';

/** How a person saves: at once by a rename, in place in one write, or in several with pauses between them. */
export type SaveMode = 'rename' | 'in place' | 'slowly' | 'append';

/** Something that happens in a history. What it needs to choose follows from its own `seed`, so that others can be left out. */
export type Step = {seed: number; wait: number} & (
  | {do: 'say'; session: number; wish: Wish; mode: SaveMode}
  | {do: 'note'; mode: SaveMode}
  | {do: 'add task'; mode: SaveMode}
  | {do: 'remove a line'; mode: SaveMode}
  | {do: 'edit a message'; mode: SaveMode}
  | {do: 'open'; file: number}
  | {do: 'save what was opened'; file: number; mode: SaveMode}
  | {do: 'decide'; how: 'approve' | 'reject'; where: 'queue' | 'page'; mode: SaveMode}
  | {do: 'inbox'; lines: number; slowly: boolean}
  | LogStep
  | {do: 'delete'; file: number}
  | {do: 'bring back'}
  | {do: 'git commit'}
  | {do: 'git checkout'}
  | {do: 'git revert'}
  | {do: 'git reset'}
  | {do: 'rebase'; ms: number}
  | {do: 'die'; after: number; how: Death; down: number}
  | {do: 'stop'; down: number}
  | {do: 'disk full'; ms: number}
  | {do: 'sync fails'}
  | {do: 'publishing stalls'; ms: number}
  | {do: 'lose events'; ms: number}
);

/** What happens to an inbox that a program writes and rotates. `ms`: how long the file stays after it was copied, until it is cut. */
export type LogStep =
  | {do: 'log'; lines: number}
  | {do: 'touch log'}
  | {do: 'rotate'; how: 'rename' | 'copytruncate'; names: 'numbers' | 'dates'; ms: number};

type Kind = Exclude<Step['do'], LogStep['do']>;

const WEIGHTS: readonly (readonly [Kind, number])[] = [
  ['say', 18],
  ['note', 6],
  ['add task', 6],
  ['remove a line', 3],
  ['edit a message', 2],
  ['open', 8],
  ['save what was opened', 10],
  ['decide', 12],
  ['inbox', 6],
  ['delete', 1],
  ['bring back', 1],
  ['git commit', 5],
  ['git checkout', 1],
  ['git revert', 1],
  ['git reset', 1],
  ['rebase', 2],
  ['die', 12],
  ['stop', 3],
  ['disk full', 2],
  ['sync fails', 1],
  ['publishing stalls', 5],
  ['lose events', 2],
];
const ALL = WEIGHTS.reduce((sum, [, weight]) => sum + weight, 0);

/** The history of a seed. */
export function stepsOf(seed: number): Step[] {
  const random = new SeededRandom(seed);
  return Array.from({length: 8 + random.int(25)}, () => stepFrom(random));
}

/** A history of a rotated inbox, and of daemons that die or are away meanwhile. A program rotates in one way, and seldom in both. */
export function rotationsOf(seed: number): Step[] {
  const random = new SeededRandom(seed * 16 + 9);
  const ways = random.pick<('rename' | 'copytruncate')[]>([
    ['rename'],
    ['copytruncate'],
    ['copytruncate'],
    ['rename', 'copytruncate'],
  ]);
  const names = random.pick<'numbers' | 'dates'>(['numbers', 'numbers', 'dates']);
  return Array.from({length: 6 + random.int(20)}, () => {
    const wait = random.pick([0, random.int(30), random.int(500), random.int(4_000)]);
    const shared = {seed: random.int(1 << 30), wait};
    const n = random.int(20);
    const down = random.pick([0, random.int(2_000), random.int(12_000)]);
    if (n < 9) return {...shared, do: 'log', lines: 1 + random.int(4)};
    if (n < 14) {
      const ms = random.chance(0.6) ? 0 : 1 + random.int(400);
      return {...shared, do: 'rotate', how: random.pick(ways), names, ms};
    }
    if (n === 14) return {...shared, do: 'touch log'};
    if (n === 15) return {...shared, do: 'stop', down};
    if (n === 16) return {...shared, do: 'lose events', ms: random.int(5_000)};
    return {...shared, do: 'die', after: random.int(random.pick([5, 25, 100])), how: 'kill', down};
  });
}

/**
 * A short history with a little of everything: a command that is approved, an inbox line, a task, a message between agents and a
 * save from a stale buffer. The first daemon dies at its step `dies`, the next one at its step `diesAgain`.
 */
export function storyWith(how: Death, dies: number, diesAgain: number | undefined): Step[] {
  const step = {seed: 7, wait: 1_500};
  return [
    {...step, wait: 0, do: 'die', after: dies, how, down: 0},
    {...step, do: 'say', session: 0, wish: 'run-both', mode: 'rename'},
    ...(diesAgain === undefined ? [] : [{...step, wait: 0, do: 'die', after: diesAgain, how, down: 0} as const]),
    {...step, do: 'open', file: 2, wait: 0},
    {...step, do: 'inbox', lines: 1, slowly: false, wait: 200},
    {...step, do: 'add task', mode: 'in place'},
    {...step, do: 'decide', how: 'approve', where: 'queue', mode: 'rename'},
    {...step, do: 'save what was opened', file: 2, mode: 'rename'},
    {...step, do: 'say', session: 1, wish: 'send', mode: 'in place'},
  ];
}

/** A history in which agents give tasks to others. */
export function delegationsOf(seed: number): Step[] {
  const delegates: ReadonlySet<Wish> = new Set(['say', 'list', 'busy', 'task', 'run-free']);
  return stepsOf(seed).map(step =>
    step.do === 'say' && delegates.has(step.wish) ? {...step, wish: 'delegate'} : step,
  );
}

function stepFrom(random: SeededRandom): Step {
  const kind = kindFrom(random);
  const wait = random.chance(0.5) ? random.int(150) : random.int(4_000);
  const mode = random.pick<SaveMode>(['rename', 'rename', 'in place', 'slowly', 'append']);
  const shared = {seed: random.int(1 << 30), wait};
  switch (kind) {
    case 'say':
      return {...shared, do: kind, session: random.int(3), wish: random.pick(WISHES), mode};
    case 'open':
    case 'delete':
      return {...shared, do: kind, file: random.int(5)};
    case 'save what was opened':
      return {...shared, do: kind, file: random.int(5), mode};
    case 'decide':
      return {
        ...shared,
        do: kind,
        how: random.chance(0.7) ? 'approve' : 'reject',
        where: random.chance(0.7) ? 'queue' : 'page',
        mode,
      };
    case 'inbox':
      return {...shared, do: kind, lines: 1 + random.int(3), slowly: random.chance(0.3)};
    case 'die':
      return {
        ...shared,
        do: kind,
        after: random.int(random.chance(0.5) ? 25 : 200),
        how: random.chance(0.65) ? 'kill' : 'power',
        down: random.chance(0.5) ? 0 : random.int(8_000),
      };
    case 'stop':
      return {...shared, do: kind, down: random.int(6_000)};
    case 'rebase':
    case 'disk full':
    case 'publishing stalls':
    case 'lose events':
      return {...shared, do: kind, ms: 200 + random.int(6_000)};
    case 'note':
    case 'add task':
    case 'remove a line':
    case 'edit a message':
      return {...shared, do: kind, mode};
    default:
      return {...shared, do: kind};
  }
}

function kindFrom(random: SeededRandom): Kind {
  let left = random.fraction() * ALL;
  for (const [kind, weight] of WEIGHTS) {
    left -= weight;
    if (left < 0) return kind;
  }
  return 'say';
}

export function describeStep({seed: _seed, wait, ...step}: Step): string {
  const {do: what, ...rest} = step;
  const words = Object.entries(rest).map(([key, value]) => `${key}: ${value}`);
  return `${what}${words.length > 0 ? ` (${words.join(', ')})` : ''}; wait ${wait} ms`;
}
