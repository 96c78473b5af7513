import {spawn, spawnSync} from 'node:child_process';
import {existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as pause} from 'node:timers/promises';
import {pathToFileURL} from 'node:url';
import fc from 'fast-check';
import {describe, expect, it, onTestFinished, vi} from 'vitest';
import {groupControls} from '../../src/effects/sandbox/control-groups.ts';
import {endLeftovers} from '../../src/effects/sandbox/leftovers.ts';
import {spare} from '../../src/effects/sandbox/pipes.ts';
import {markedProcesses, sandboxedAs} from '../../src/effects/sandbox/processes.ts';
import {runs} from '../arbitrary.ts';
import {root} from '../cli/run.ts';
import {line, newMark, noBubblewrap, sandboxHome, say, sh} from './sandbox-home.ts';

const kinds = [
  {where: 'on the host', confined: false, skip: undefined},
  {where: 'in the sandbox', confined: true, skip: noBubblewrap},
];

/** Programs that say something, read something, fail, or end before they have read all. */
const program = fc.constantFrom(
  ...[['true'], ['false'], ['echo', 'a b'], ['echo', '-n', '$x'], ['cat'], ['head', '-n1'], ['head', '-c', '3']],
  ...[['sh', '-c', 'exit 7'], ['sh', '-c', 'cat; echo err >&2; exit 3'], ['sh', '-c', 'kill -9 $$'], ['yes']],
  ...[['seq', '3'], ['wc', '-l'], ['no-such-program'], ['./not-there'], ['./plain'], ['test', '-s', '/dev/stdin']],
);
const quoted = (words: readonly string[]) => words.map(word => `'${word.replaceAll("'", "'\\''")}'`).join(' ');

/** `yes` must have somebody who stops reading. */
const lines = fc
  .tuple(program, fc.array(fc.tuple(fc.constantFrom('|', '|', '&&', '||', ';'), program), {maxLength: 5}))
  .map(([first, more]) => {
    const parts = [['', first] as const, ...more];
    return parts.map(([operator, words], i) =>
      words[0] === 'yes' && (parts[i + 1]?.[0] !== '|' || parts[i + 1]?.[1][0] !== 'head')
        ? [operator, ['true']]
        : [operator, words],
    ) as [string, string[]][];
  });

/** Its time limit, and all that is done after it, are long over. */
async function hung(text: string, mark: string, signal: AbortSignal): Promise<never> {
  await pause(60_000, undefined, {signal});
  const living = await markedProcesses(mark);
  const words = living.map(pid => `${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')}`);
  throw new Error(`it did not end: ${text}\nof it live: ${words.join('\n') || 'none'}`);
}

describe.each(kinds)('a line of programs $where', ({confined, skip}) => {
  it.skipIf(skip)(`does what bash does with it ${skip ?? ''}`, async () => {
    const place = sandboxHome();
    writeFileSync(join(place.workspace, 'plain'), 'not executable');
    await fc.assert(
      fc.asyncProperty(lines, async parts => {
        const words = parts.flatMap(([operator, argv]) => (operator === '' ? argv : [operator, ...argv]));
        const text = parts.map(([operator, argv]) => `${operator} ${quoted(argv)}`).join(' ');
        const bash = spawnSync('bash', ['-c', text], {
          cwd: place.workspace,
          stdio: ['ignore', 'pipe', 'pipe'],
          encoding: 'utf8',
          timeout: 20_000,
        });
        const mark = newMark();
        const ended = new AbortController();
        const saying = say(place, words, {confined, mark}).finally(() => ended.abort());
        const ours = await Promise.race([saying, hung(text, mark, ended.signal)]);
        const errors = (stderr: string) =>
          stderr
            .split('\n')
            .map(said => said.replace(/^bash: line \d+: /, ''))
            .filter(isOurs)
            .sort();
        expect({code: ours.exitCode, stdout: ours.stdout, stderr: errors(ours.stderr)}, text).toEqual({
          ...{code: bash.status ?? 137, stdout: bash.stdout, stderr: errors(bash.stderr)},
        });
      }),
      // Whatever hangs does so by chance: the first case tells most.
      {...runs(confined ? 60 : 100), endOnFailure: true},
    );
  });

  it.skipIf(skip)('gets its words as they are', async () => {
    const words = [
      '',
      ' ',
      '$HOME',
      '`id`',
      '*',
      '~',
      '\n',
      'ü\u202e',
      '--',
      '-e',
      '"',
      "'",
      '\\',
      'a'.repeat(100_000),
    ];
    const said = await say(sandboxHome(), ['printf', '%s\\0', ...words], {confined});
    expect(said.stdout.split('\0').slice(0, -1)).toEqual(words);
  });

  it.skipIf(skip)('has real pipes: they can be opened by name', async () => {
    const said = await say(
      sandboxHome(),
      ['echo', 'x', '|', 'sh', '-c', 'cat /dev/stdin; echo y > /dev/stderr; echo z > /dev/stdout'],
      {confined},
    );
    expect(said).toMatchObject({exitCode: 0, stdout: 'x\nz\n', stderr: 'y\n'});
  });

  it.skipIf(skip)('has nothing to read', async () => {
    expect(await sh(sandboxHome(), 'cat; test -c /dev/stdin && echo device', {confined})).toMatchObject({
      stdout: 'device\n',
    });
  });

  it.skipIf(skip)('hands on megabytes whole, through pipes', async () => {
    const said = await say(sandboxHome(), ['seq', '200000', '|', 'cat', '|', 'cat'], {
      confined,
      mostOutput: 10_000_000,
    });
    expect(said.stdout).toHaveLength(1_288_895);
    expect(said.stdout.endsWith('\n199999\n200000\n')).toBe(true);
  });

  it.skipIf(skip)('says in order that a program is missing', async () => {
    const said = await say(sandboxHome(), ['sh', '-c', 'echo 1 >&2', ';', 'nope', ';', 'sh', '-c', 'echo 2 >&2'], {
      confined,
    });
    expect(said).toMatchObject({exitCode: 0, stderr: '1\nnope: command not found\n2\n'});
  });

  it.skipIf(skip)('ends at its time limit, SIGTERM first', async () => {
    const place = sandboxHome();
    const script = 'trap "echo asked > asked; exit" TERM; echo on; sleep 600 & wait';
    const said = await sh(place, script, {confined, timeoutMs: 400});
    expect(said).toMatchObject({how: 'timeout', exitCode: null, stdout: 'on\n'});
    expect(readFileSync(join(place.workspace, 'asked'), 'utf8')).toBe('asked\n');
  });

  it.skipIf(skip)('is killed if it does not listen, with all its children', async () => {
    const mark = newMark();
    const script =
      'trap "" TERM; setsid sh -c "trap \\"\\" TERM; sleep 601; sleep 602" & (sleep 603 &) ; while :; do sleep 604; done';
    const said = await sh(sandboxHome(), script, {confined, mark, timeoutMs: 200});
    expect(said).toMatchObject({how: 'timeout', exitCode: null});
    expect(await markedProcesses(mark)).toEqual([]);
  });

  it.skipIf(skip)('is stopped by its signal, or not begun', async () => {
    const mark = newMark();
    const stop = new AbortController();
    const place = sandboxHome();
    const running = say(place, ['sleep', '605', '|', 'cat', ';', 'touch', 'next'], {
      confined,
      mark,
      signal: stop.signal,
    });
    await vi.waitFor(async () => expect((await markedProcesses(mark)).length).toBeGreaterThan(1), {timeout: 60_000});
    stop.abort();
    expect(await running).toMatchObject({how: 'stopped', exitCode: null});
    expect(await markedProcesses(mark)).toEqual([]);
    expect(await say(place, ['touch', 'next'], {confined, signal: stop.signal})).toMatchObject({how: 'stopped'});
    expect(existsSync(join(place.workspace, 'next'))).toBe(false);
  });

  it.skipIf(skip)('is ended when it says too much', async () => {
    const mark = newMark();
    const said = await say(sandboxHome(), ['yes', '|', 'cat'], {confined, mark, mostOutput: 100_001});
    expect(said).toMatchObject({how: 'output', exitCode: null});
    expect(said.stdout).toHaveLength(100_001);
    expect(await markedProcesses(mark)).toEqual([]);
    expect(await say(sandboxHome(), ['echo', '12345'], {confined, mostOutput: 6})).toMatchObject({how: 'ended'});
    expect(await say(sandboxHome(), ['echo', '123456'], {confined, mostOutput: 6})).toMatchObject({how: 'output'});
  });

  it.skipIf(skip)('leaves nothing behind that holds its pipes or a session of its own', async () => {
    const mark = newMark();
    const script = 'sleep 606 & setsid sleep 607 & (setsid sh -c "sleep 608; echo late" &); echo on';
    const said = await sh(sandboxHome(), script, {confined, mark});
    expect(said).toMatchObject({how: 'ended', exitCode: 0, stdout: 'on\n'});
    expect(await markedProcesses(mark)).toEqual([]);
  });

  it.skipIf(skip)('nor what is just becoming another program when the line ends', async () => {
    const place = sandboxHome();
    for (let i = 0; i < 40; i++) {
      await sh(place, "setsid nohup bash -c 'sleep 606; true' > /dev/null 2>&1 & true", {confined});
      const inside = readdirSync('/proc').filter(pid => linkOf(`/proc/${pid}/cwd`).startsWith(place.workspace));
      expect(inside).toEqual([]);
    }
  });

  it.skipIf(skip || !groupControls().has('pids'))(
    'nor what starts its successor and ends, without a pause',
    async () => {
      const place = sandboxHome();
      // Without an end of its own it would run for some seconds more.
      writeFileSync(
        join(place.workspace, 'hop'),
        '[ $1 = 0 ] || { echo $1 >> at; env -i setsid sh hop $(($1 - 1)) & }\n',
      );
      const said = await sh(place, 'sh hop 5000 & while [ ! -s at ]; do :; done', {confined});
      expect(said).toMatchObject({how: 'ended', exitCode: 0});
      const at = readFileSync(join(place.workspace, 'at'), 'utf8');
      await pause(200);
      expect(readFileSync(join(place.workspace, 'at'), 'utf8')).toBe(at);
      expect(at).not.toMatch(/^1$/m);
    },
  );

  it.skipIf(skip)('fails as a value', async () => {
    const place = sandboxHome();
    const big = await say(place, ['sleep', '609', '|', 'echo', 'a'.repeat(3_000_000)], {confined});
    expect(big).toMatchObject({how: 'failed', exitCode: null, error: expect.stringContaining('E2BIG')});
    const odd = await say(place, ['echo', 'a\0b'], {confined});
    expect(odd).toMatchObject({how: 'failed', error: expect.stringContaining('null bytes')});
  });

  it.skipIf(skip)('leaves no file open, and no pipe on the disk', async () => {
    const place = sandboxHome();
    // Three descriptors of each that is kept for the next ones.
    const open = () => readdirSync('/proc/self/fd').filter(fd => fifo(fd)).length - 3 * spare();
    await say(place, ['true'], {confined});
    const before = open();
    await say(place, ['echo', 'x', '|', 'no-such', '|', 'cat', ';', 'true', '|', 'true'], {confined});
    await say(place, ['echo', 'a'.repeat(3_000_000), '|', 'cat'], {confined});
    expect(open()).toBe(before);
  });
});

/** Pipes of ours that this process has open. */
function fifo(fd: string): boolean {
  try {
    return /agentdir-pipes|^pipe:/.test(readlinkSync(`/proc/self/fd/${fd}`));
  } catch {
    return false;
  }
}

/** Of a process that may be gone. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/** What the programs say, and what is said of those that cannot be started; bash also tells of jobs and signals. */
function isOurs(text: string): boolean {
  return /^err$|: (command not found|No such file or directory|Permission denied)$/.test(text);
}

describe('a daemon that is killed', () => {
  const dies = async (confined: boolean): Promise<{mark: string; place: {home: string; workspace: string}}> => {
    const place = sandboxHome();
    const mark = newMark();
    const module = pathToFileURL(join(root, 'dist/effects/sandbox/run.js')).href;
    const request = {
      ...place,
      programs: line(['sh', '-c', '(setsid sleep 610 &); sleep 611'], {confined}),
      readOnly: false,
      mark,
    };
    const script = `
      const {runPrograms} = await import(${JSON.stringify(module)});
      runPrograms({...${JSON.stringify(request)}, timeoutMs: 60000, mostOutput: 1e6, signal: new AbortController().signal, onOutput() {}});
    `;
    const daemon = spawn(process.execPath, ['--input-type=module', '-e', script], {stdio: 'ignore'});
    onTestFinished(() => void daemon.kill('SIGKILL'));
    // sh and both sleeps, and in the sandbox bubblewrap's own two
    await vi.waitFor(async () => expect(await markedProcesses(mark)).toHaveLength(confined ? 5 : 3), {timeout: 60_000});
    daemon.kill('SIGKILL');
    return {mark, place};
  };

  it.skipIf(noBubblewrap)('takes what is in the sandbox with it', async () => {
    const {mark} = await dies(true);
    await vi.waitFor(async () => expect(await markedProcesses(mark)).toEqual([]), {timeout: 60_000});
  });

  it.skipIf(noBubblewrap)('finds what is in a sandbox without its environment', async () => {
    const mark = newMark();
    const running = sh(sandboxHome(), 'env -i setsid -f sleep 612; exec env -i sleep 613', {mark});
    await vi.waitFor(async () => expect(await sandboxedAs(mark)).toHaveLength(3), {timeout: 60_000});
    await vi.waitFor(async () => expect(await markedProcesses(mark)).toHaveLength(2), {timeout: 60_000}); // bubblewrap's own two
    expect(await endLeftovers(mark)).toBe(4);
    expect(await running).toMatchObject({how: 'ended', exitCode: 137});
    expect(await sandboxedAs(mark)).toEqual([]);
    expect(await sandboxedAs(newMark())).toEqual([]);
  });

  it('leaves what is on the host, which is found by its mark', async () => {
    const {mark} = await dies(false);
    expect(await endLeftovers(mark)).toBe(3);
    expect(await markedProcesses(mark)).toEqual([]);
    expect(await endLeftovers(mark)).toBe(0);
  });

  it('leaves what the next daemon of another home does not take', async () => {
    const {mark} = await dies(false);
    const module = pathToFileURL(join(root, 'dist/effects/sandbox/leftovers.js')).href;
    const script = `
      const {endLeftovers} = await import(${JSON.stringify(module)});
      console.log(await endLeftovers(${JSON.stringify(newMark())}));
    `;
    const other = spawnSync(process.execPath, ['--input-type=module', '-e', script], {encoding: 'utf8'});
    expect(other).toMatchObject({stderr: '', stdout: '0\n'});
    expect(await endLeftovers(mark)).toBe(3);
  });

  it('leaves what is found even where there are few file descriptors and many processes', async () => {
    const {mark} = await dies(false);
    const others = Array.from({length: 60}, () => spawn('sleep', ['60'], {stdio: 'ignore'}));
    onTestFinished(() => others.forEach(other => void other.kill('SIGKILL')));
    const module = pathToFileURL(join(root, 'dist/effects/sandbox/leftovers.js')).href;
    const script = `
      const {endLeftovers} = await import(${JSON.stringify(module)});
      console.log(await endLeftovers(${JSON.stringify(mark)}));
    `;
    const [node, ...args] = [process.execPath, '--input-type=module', '-e', script];
    const few = spawnSync('sh', ['-c', 'ulimit -n 40; exec "$@"', 'sh', node, ...args], {encoding: 'utf8'});
    expect(few).toMatchObject({stderr: '', stdout: '3\n'});
    expect(await markedProcesses(mark)).toEqual([]);
  });

  it('is not taken for one that left nothing where nobody can look', async () => {
    const none = () => Promise.reject(Object.assign(new Error('EMFILE'), {code: 'EMFILE'}));
    await expect(endLeftovers(newMark(), none)).rejects.toThrow('cannot look for processes');
  });
});
