/** Whether a group that contains a repetition or alternative is itself repeated, which can take exponential time. */
export function nestsRepetition(source: string): boolean {
  const groups: boolean[] = [false];
  for (let i = 0; i < source.length; i++) {
    const char = source[i];
    if (char === '\\') i++;
    else if (char === '[') {
      while (i < source.length && source[i] !== ']') i += source[i] === '\\' ? 2 : 1;
    } else if (char === '(') groups.push(false);
    else if (char === '|' || char === '*' || char === '+' || char === '{') groups[groups.length - 1] = true;
    else if (char === ')') {
      const inner = groups.pop() ?? false;
      if (inner && /[*+{]/.test(source[i + 1] ?? '')) return true;
      if (inner && groups.length > 0) groups[groups.length - 1] = true;
    }
  }
  return false;
}
