/**
 * Faults put into the source on purpose, by name: a simulation must find each of them. `from` must be in the file, or the fault is out of
 * date. Faults of the disk and of git are in sabotage.ts.
 */
export const brokenSource = {
  /** The version that the file has now counts as the one that a stale buffer was opened on. */
  'merge from the wrong base': [
    {
      file: 'src/loop/merge-stale.ts',
      from: "const {text: merged, conflicts} = merge(kind, base, text, last);\n  if (kind === 'tasks'",
      to: "const {text: merged, conflicts} = merge(kind, last, text, last);\n  if (kind === 'tasks'",
    },
  ],
  /** A call runs before it is recorded as started. */
  'run before marking': [
    {file: 'src/agents/turns/call-step.ts', from: '      marked?.start();\n', to: ''},
    {
      file: 'src/agents/turns/call-step.ts',
      from: '  result = withResults(result, open, results);',
      to: '  marked?.start();\n  result = withResults(result, open, results);',
    },
  ],
  /** A message counts as delivered before its session has it. */
  'mark before delivering': [
    {
      file: 'src/agents/mail/deliver-step.ts',
      from: '  const wakes = ',
      to: '  for (const letter of put) mail.delivered(path, letter, {session: id, begun: false, at: now});\n  const wakes = ',
    },
  ],
};
