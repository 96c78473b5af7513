import {type ChildProcess, spawn} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {onTestFinished} from 'vitest';
import {environment, main, until} from './run.ts';

interface Told {
  event: string;
  [key: string]: unknown;
}

/** `agentdir webhook` or `agentdir mail`, and what it has told so far. */
export interface Connector {
  child: ChildProcess;
  told: Told[];
  output: () => string;
  exited: Promise<number | string | null>;
  /** Until it has told of this. */
  tells: (event: string, count?: number) => Promise<Told>;
}

export function startConnector(
  home: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  atEnd: (end: () => Promise<void>) => void = onTestFinished,
): Connector {
  const child = spawn(process.execPath, [main, '--json', ...args], {
    cwd: home,
    env: {...environment, ...env},
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const told: Told[] = [];
  let output = '';
  createInterface({input: child.stdout as NodeJS.ReadableStream}).on('line', line => {
    output += `${line}\n`;
    told.push(JSON.parse(line) as Told);
  });
  child.stderr?.on('data', chunk => {
    output += chunk;
  });
  const exited = new Promise<number | string | null>(resolve =>
    child.once('exit', (code, signal) => resolve(code ?? signal)),
  );
  atEnd(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await exited;
  });
  const tells = async (event: string, count = 1) => {
    const found = () => told.filter(each => each.event === event);
    await until(
      () => ({all: found(), output, over: child.exitCode ?? child.signalCode}),
      ({all, over}) => all.length >= count || over !== null,
    );
    const last = found()[count - 1];
    if (!last) throw new Error(`it never told of ${event}: ${output}`);
    return last;
  };
  return {child, told, output: () => output, exited, tells};
}

/** The lines of a file of inbox/, which are all whole. */
export function linesOf(home: string, file: string): Record<string, unknown>[] {
  let text = '';
  try {
    text = readFileSync(join(home, 'inbox', file), 'utf8');
  } catch {
    return [];
  }
  return text
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as Record<string, unknown>);
}
