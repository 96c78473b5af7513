import {spawnSync} from 'node:child_process';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {Segment} from '../../src/policy/plain.ts';
import {readLine} from '../../src/policy/shell.ts';

/** `FUZZ=100 npx vitest run test/policy/bash.test.ts` looks a hundred times as long. */
const runs = Math.ceil(1500 * Number(process.env.FUZZ ?? 1));

const hasBash = spawnSync('bash', ['-c', 'true']).status === 0;

/**
 * No program can be found, so bash hands every command to a function that only reports its words. Each line is
 * answered by `count words…` for each command that ran, then `end`.
 */
const reporter = `
PATH=/nonexistent
exec 3>&1 1>/dev/null 2>/dev/null
command_not_found_handle() { printf '%s\\0' "$#" "$@" >&3; }
while IFS= read -r -d '' line; do eval "$line"; printf 'end\\0' >&3; done
`;

function bashReads(lines: readonly string[]): string[][][] {
  const input = lines.map(line => `${line}\0`).join('');
  const bash = spawnSync('bash', ['--norc', '--noprofile', '-c', reporter], {input, maxBuffer: 1 << 28});
  const fields = bash.stdout.toString('latin1').split('\0');
  const answers: string[][][] = [];
  let commands: string[][] = [];
  for (let i = 0; i < fields.length - 1; ) {
    if (fields[i] === 'end') {
      answers.push(commands);
      commands = [];
      i++;
    } else {
      const count = Number(fields[i]);
      commands.push(fields.slice(i + 1, i + 1 + count));
      i += 1 + count;
    }
  }
  return answers;
}

/** What runs if every command succeeds: all but what follows `||`, with the rest of its pipeline. */
function expectedToRun(segments: readonly Segment[]): string[][] {
  let running = true;
  return segments.flatMap(({argv, operator}) => {
    if (operator !== '|') running = operator !== '||';
    return running ? [argv] : [];
  });
}

const sorted = (commands: readonly string[][]): string[] => commands.map(argv => JSON.stringify(argv)).sort();

const word = fc.oneof(
  {weight: 5, arbitrary: fc.stringMatching(/^[ab][abc0-9_.=:,@%+^/#!-]{0,5}$/)},
  {weight: 2, arbitrary: fc.stringMatching(/^'[ab *?(){};|&<>#"\\!=[\]-]{0,6}'$/)},
  {weight: 2, arbitrary: fc.stringMatching(/^"[ab *?(){};|&<>#'!=[\]-]{0,6}"$/)},
  {weight: 2, arbitrary: fc.stringMatching(/^--?[abc]{1,3}(=('[ ab*]{0,3}'|"[ ab{}]{0,3}"))?$/)},
  {
    weight: 1,
    arbitrary: fc.constantFrom('!', '{', '}', 'in', 'do', 'if', 'time', ']]', '[[', '-', '--', '=', 'a=b', "''"),
  },
);
const gap = fc.constantFrom(' ', ' ', '  ');
const joint = fc.constantFrom(' ; ', ';', ' && ', '&&', ' || ', ' | ', '|', ' |', ' & ', ';;', '\n');
const name = fc.oneof(
  {weight: 9, arbitrary: fc.constantFrom('a', 'b', 'ab', 'a-b', 'a.b', 'c0')},
  {weight: 1, arbitrary: fc.constantFrom("a'b'", 'then', 'in', 'coproc', 'time', '!', 'function', 'a=b', '{')},
);
const command = fc
  .tuple(name, fc.array(fc.tuple(gap, word), {maxLength: 5}))
  .map(([first, words]) => first + words.map(pair => pair.join('')).join(''));
const wellFormed = fc
  .tuple(command, fc.array(fc.tuple(joint, command), {maxLength: 3}), fc.constantFrom('', '', ';', ' ', '&&', '|'))
  .map(([first, more, end]) => first + more.map(pair => pair.join('')).join('') + end);
/** Anything at all of characters that mean something to a shell. */
const soup = fc
  .array(fc.constantFrom(...'ab01 \t\n\'"\\$`~!#%^&*()[]{}|;:<>?,./=+-@_é\u0000\u007f'), {maxLength: 14})
  .map(chars => chars.join('').replaceAll('\0', ''));

describe.skipIf(!hasBash)('bash reads a line without doubts as we do', () => {
  test.each([
    ['lines of commands', wellFormed, 0.2],
    ['any characters', soup, 0.01],
  ] as const)('%s', (_name, lines, least) => {
    const sample = fc.sample(lines, runs);
    const clean = sample
      .map(line => ({line, ...readLine(line)}))
      .filter(({doubts}) => doubts.length === 0)
      // For a path bash does not ask the reporter.
      .filter(({segments}) => segments.every(({argv}) => !argv[0]?.includes('/')))
      // A lone `.` is a builtin.
      .filter(({segments}) => segments.every(({argv}) => argv[0] !== '.'));
    expect(clean.length).toBeGreaterThan(runs * least);
    const answers = bashReads(clean.map(({line}) => line));
    expect(answers.length).toBe(clean.length);
    const differing = clean
      .map(({line, segments}, i) => ({line, ours: sorted(expectedToRun(segments)), bash: sorted(answers[i] ?? [])}))
      .filter(({ours, bash}) => JSON.stringify(ours) !== JSON.stringify(bash));
    expect(differing).toEqual([]);
  });

  test('the reporter would notice', () => {
    expect(bashReads(["a 'b c' | b; a || c", 'a {b,c}'])).toEqual(
      [[['a', 'b c'], ['b'], ['a']].sort(), [['a', 'b', 'c']]].map((commands, i) =>
        i === 0 ? expect.arrayContaining(commands) : commands,
      ),
    );
  });
});
