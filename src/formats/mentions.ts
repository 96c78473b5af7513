/** A name after @ in prose, with the instance if one is named: `@coder`, `@coder@pr-123`. */
export interface Mention {
  name: string;
  instance?: string;
}

/** Mentions in prose, but not in code or in addresses such as ada@example.org. Linear time. */
export function mentionsInProse(text: string): Mention[] {
  if (!text.includes('@')) return [];
  const found: Mention[] = [];
  const pattern = /(?<![\w.@/+-])@([A-Za-z0-9][A-Za-z0-9._-]{0,127})(?:@([A-Za-z0-9][A-Za-z0-9._-]{0,127}))?/g;
  for (const [, name = '', instance] of withoutCode(text).matchAll(pattern)) {
    const end = /[._-]+$/;
    found.push(instance === undefined ? {name: name.replace(end, '')} : {name, instance: instance.replace(end, '')});
  }
  return found;
}

/** Unique names after @ in prose. Of `@coder@pr-123`, the name is `coder`. */
export function mentionedNames(text: string): string[] {
  return [...new Set(mentionsInProse(text).map(({name}) => name))];
}

/** Text without the lines that quote others: those that begin with ">". */
export function withoutQuotes(text: string): string {
  return text.replace(/^[ \t]*>.*$/gm, '');
}

/** Remove code. A code span ends with as many backticks as it began with; an unclosed fence extends to the end. */
function withoutCode(text: string): string {
  const runs = [...text.matchAll(/`+|^~{3,}/gm)].map(({0: run, index}) => ({run, index}));
  /** For each run of backticks, the index of the next equal run. */
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
