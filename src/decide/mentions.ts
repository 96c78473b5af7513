/** Names after @ in prose, each once. Not in code, nor as part of an address such as ada@example.org. Linear. */
export function mentionedNames(text: string): string[] {
  if (!text.includes('@')) return [];
  const names = new Set<string>();
  for (const [, name = ''] of withoutCode(text).matchAll(/(?<![\w.@/+-])@([A-Za-z0-9][A-Za-z0-9._-]{0,127})/g))
    names.add(name.replace(/[._-]+$/, ''));
  return [...names];
}

/** Code ends with as many backticks as it began with; a fence that is not closed goes on to the end. */
function withoutCode(text: string): string {
  const runs = [...text.matchAll(/`+|^~{3,}/gm)].map(({0: run, index}) => ({run, index}));
  /** Of each run, from the last to the first, the next one that is the same. */
  const next: (number | undefined)[] = [];
  const latest = new Map<string, number>();
  for (let i = runs.length - 1; i >= 0; i--) {
    const {run} = runs[i] as {run: string};
    next[i] = latest.get(run);
    latest.set(run, i);
  }
  let prose = '';
  let from = 0;
  for (let i = 0; i < runs.length; i++) {
    const {run, index} = runs[i] as {run: string; index: number};
    const closing = next[i];
    const fence = run.length >= 3 && /(?:^|\n)[ \t]*$/.test(text.slice(Math.max(0, index - 80), index));
    if (closing === undefined && !fence) continue;
    prose += `${text.slice(from, index)} `;
    if (closing === undefined) return prose;
    from = (runs[closing]?.index ?? 0) + run.length;
    i = closing;
  }
  return prose + text.slice(from);
}
