import {type ChildProcess, spawn} from 'node:child_process';
import {existsSync} from 'node:fs';
import {dirname, join} from 'node:path';
import type {Duplex} from 'node:stream';
import {fileURLToPath} from 'node:url';
import type {Run} from './run.ts';

/** A process that runs one command of the built program after the other: see host.cjs. */
interface Host {
  child: ChildProcess;
  channel: Duplex;
  /** Homes that a daemon has served in this process. The next one there must not be taken for the same. */
  served: Set<string>;
  stderr: string;
  end: ((run: Run) => void) | undefined;
}

const program = fileURLToPath(new URL('host.cjs', import.meta.url));
const hosts = new Set<Host>();
/** Commands of one test that run beside each other, or serve one home in turns. More of them get processes of their own. */
const MOST = 4;
/** Variables that the program reads again with every command. What others say, it keeps for as long as it is loaded. */
const READ_EACH_TIME = /^(?:OPENAI_\w+|AGENTDIR_HOME|EDITOR|\w+_API_KEY)$/;
/** Commands that are about their process, which they end, replace or take over. */
const OWN_PROCESS = /^(?:demo|mail|webhook|completions|__complete|stop|restart)$/;

/** The host that may run this command as a process of its own would; undefined if none may. */
export function hostFor(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv, usual: NodeJS.ProcessEnv) {
  const names = new Set([...Object.keys(env), ...Object.keys(usual)]);
  if ([...names].some(name => env[name] !== usual[name] && !READ_EACH_TIME.test(name))) return;
  if (args.some(arg => OWN_PROCESS.test(arg)) || !existsSync(cwd)) return;
  const serves = args.includes('start');
  if (serves && !args.includes('--once')) return;
  for (const host of hosts)
    if (!host.end && !(serves && host.served.has(cwd))) {
      if (serves) host.served.add(cwd);
      return host;
    }
  if (hosts.size >= MOST) return;
  const host = startHost(usual);
  if (serves) host.served.add(cwd);
  return host;
}

function startHost(env: NodeJS.ProcessEnv): Host {
  const child = spawn(process.execPath, [program], {
    cwd: dirname(program),
    env,
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
  });
  const channel = child.stdio[3] as Duplex;
  const host: Host = {child, channel, served: new Set(), stderr: '', end: undefined};
  hosts.add(host);
  let text = '';
  channel.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    if (!text.endsWith('\n')) return;
    const run = JSON.parse(text) as Run;
    text = '';
    finish(host, run);
  });
  channel.on('error', () => {});
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    host.stderr += chunk;
  });
  // A command that fails as none should ends its process, here as anywhere.
  child.once('close', code => {
    hosts.delete(host);
    finish(host, {code: code ?? 1, stdout: '', stderr: host.stderr});
  });
  child.unref();
  for (const stream of [channel, child.stdin, child.stderr]) (stream as unknown as {unref(): void}).unref();
  return host;
}

function finish(host: Host, run: Run): void {
  const {end} = host;
  host.end = undefined;
  end?.(run);
}

export function runIn(host: Host, cwd: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Run> {
  return new Promise(resolve => {
    host.end = resolve;
    host.channel.write(`${JSON.stringify({cwd: join(cwd), args, env})}\n`);
  });
}

export function hostPids(): number[] {
  return [...hosts].flatMap(({child}) => child.pid ?? []);
}
