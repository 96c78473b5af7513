/** As in the paper (Cormack 2009): the first places count much, but not all. */
const K = 60;

/** Several lists, best first, as one: by places, because what two lists give as scores cannot be compared. */
export function fuse<T>(lists: readonly (readonly T[])[]): {one: T; score: number}[] {
  const scores = new Map<T, number>();
  for (const list of lists)
    for (const [i, one] of list.entries()) scores.set(one, (scores.get(one) ?? 0) + 1 / (K + i + 1));
  return [...scores].map(([one, score]) => ({one, score})).sort((a, b) => b.score - a.score);
}
