/** Chances that come the same for the same seed (mulberry32). What processes do meanwhile is not in its power. */
export function chances(seed) {
  let a = seed >>> 0;
  const next = () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return {
    next,
    /** From `least` to below `most`. */
    number: (least, most) => least + Math.floor(next() * (most - least)),
    between: (least, most) => least + next() * (most - least),
    chance: part => next() < part,
    pick: list => list[Math.floor(next() * list.length)],
    /** One of `[weight, value]…`. */
    weighted: pairs => {
      let at = next() * pairs.reduce((sum, [weight]) => sum + weight, 0);
      for (const [weight, value] of pairs) {
        at -= weight;
        if (at < 0) return value;
      }
      return pairs.at(-1)[1];
    },
    /** Another row of chances, so that one actor's pace does not change what another does. */
    fork: salt => chances((seed ^ Math.imul(salt + 1, 0x9e3779b1)) >>> 0),
  };
}
