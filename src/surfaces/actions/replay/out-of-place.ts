import {isRecordedMessage, type MessageEntry, type MessageOrigin} from './entry.ts';

/** Indexes of moved messages: the fewest whose removal leaves the rest in order. */
export function outOfPlace(entries: readonly MessageEntry[]): number[] {
  if (!entries.some(({moved}) => moved)) return [];
  const places = [...entries.keys()].filter(at => {
    const {message, origin} = entries[at] as MessageEntry;
    return isRecordedMessage(message) && origin.by.engine;
  });
  const inOrder = longestInOrder(places.map(at => (entries[at] as MessageEntry).origin));
  return places.filter((at, i) => !inOrder.has(i) && entries[at]?.moved);
}

export function isBefore(a: MessageOrigin, b: MessageOrigin): boolean {
  return a.by.order < b.by.order || (a.by.order === b.by.order && a.at < b.at);
}

/** Indexes of the longest increasing subsequence. */
function longestInOrder(list: readonly MessageOrigin[]): ReadonlySet<number> {
  /** For each length, the end of the best subsequence so far. */
  const ends: number[] = [];
  const former: (number | undefined)[] = [];
  for (const [i, origin] of list.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(list[ends[middle] as number] as MessageOrigin, origin)) low = middle + 1;
      else high = middle;
    }
    former[i] = low > 0 ? ends[low - 1] : undefined;
    ends[low] = i;
  }
  const kept = new Set<number>();
  for (let i = ends.at(-1); i !== undefined; i = former[i]) kept.add(i);
  return kept;
}
