import type {JournalEntry} from './entry.ts';
import type {PendingEntry} from './git/git-batch.ts';

/** The trailer that names each further state change of a commit. */
const STEP = 'Step';

/** Ids that relate state changes of one step. */
const NAMES: ReadonlySet<string> = new Set(['Call', 'Approval']);

/**
 * The group of entries, one per future commit, that an entry joins: the last one about the same call or approval, or for `last` the last
 * one. Undefined: a commit of its own. An entry may overtake groups that do not change its files, but nothing that a person did.
 */
export function groupToJoin<Entry extends {entry: JournalEntry}>(
  groups: readonly Entry[][],
  {entry}: {entry: JournalEntry},
): Entry[] | undefined {
  if (!entry.joins || entry.author === 'human') return undefined;
  const names = namesOf(entry);
  const paths = new Set(entry.changes.map(({path}) => path));
  for (const group of [...groups].reverse()) {
    if (group.some(each => each.entry.author === 'human')) return undefined;
    if (entry.joins === 'last') return group;
    if (group.some(each => namesOf(each.entry).some(name => names.includes(name)))) return group;
    if (group.some(each => each.entry.changes.some(({path}) => paths.has(path)))) return undefined;
  }
  return undefined;
}

function namesOf({trailers}: Pick<JournalEntry, 'trailers'>): string[] {
  return trailers.flatMap(([key, value]) => (NAMES.has(key) ? [`${key} ${value}`] : []));
}

/**
 * One commit with several state changes. The first change of a call leads, else the first of all: the commit has its author, and its
 * subject names the changes of its file. Trailers name each change, and `Cause` is that of the last change of that file. Of a file that
 * changed twice, the last content counts.
 */
export function joined(entries: readonly [PendingEntry, ...PendingEntry[]]): PendingEntry {
  const [first, ...others] = entries;
  if (others.length === 0) return first;
  const lead = entries.find(({trailers}) => trailers.some(([key]) => key === 'Call')) ?? first;
  const rest = entries.filter(each => each !== lead);
  const path = lead.changes[0]?.path;
  const own = entries.filter(({changes}) => changes[0]?.path === path);
  const cause = own.at(-1)?.trailers.filter(([key]) => key === 'Cause') ?? [];
  const named = new Map<string, readonly [string, string]>();
  for (const trailer of [lead, ...rest].flatMap(({trailers}) => trailers))
    if (trailer[0] !== 'Cause') named.set(trailer.join(': '), trailer);
  const steps = rest.map(({subject}): [string, string] => [STEP, subject]);
  const last = new Map(entries.flatMap(({changes}) => changes.map(change => [change.path, change] as const)));
  return {
    ...lead,
    changes: [...last.values()],
    subject: [lead.subject, ...own.filter(each => each !== lead).map(({subject}) => wordsOf(subject))].join('; '),
    trailers: [...named.values(), ...steps, ...cause],
    time: entries.at(-1)?.time ?? lead.time,
  };
}

/** The subject without the kind and name of its file. */
function wordsOf(subject: string): string {
  return subject.replace(/^[a-z]+\([^)]*\): /, '');
}
