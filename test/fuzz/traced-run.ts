import {spawn, spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {eventsIn, TRACED, type TraceEvent} from './trace-events.ts';
import {fillWorkspace} from './traced-workspace.ts';

/** Runs programs in a sandbox under strace and tells what they did. */
export interface Tracer {
  /** Undefined: the program is not installed. */
  run: (argv: readonly string[]) => Promise<TraceEvent[] | undefined>;
  /** Make the workspace anew. */
  renew: () => void;
  close: () => void;
}

/** Where a traced program finds its workspace. */
const WORKSPACE = '/tmp/ws';
const SECONDS = 2;
const PATH = '/usr/local/bin:/usr/bin:/bin';

/** Undefined: bubblewrap or strace is missing, or may not trace here. */
export function startTracer(): Tracer | undefined {
  const dir = mkdtempSync(join(tmpdir(), 'agentdir-trace-'));
  const close = (): void => rmSync(dir, {recursive: true, force: true});
  const workspace = join(dir, 'ws');
  const renew = (): void => {
    rmSync(workspace, {recursive: true, force: true});
    mkdirSync(workspace);
    fillWorkspace(workspace);
  };
  renew();
  const probe = spawnSync('bwrap', bubblewrap(dir, 'probe', ['true']), {timeout: 10_000});
  if (probe.status !== 0) {
    close();
    return undefined;
  }
  const installed = new Map<string, boolean>();
  const isInstalled = (name: string): boolean => {
    const known = installed.get(name);
    if (known !== undefined) return known;
    const found = spawnSync('/bin/sh', ['-c', 'command -v "$0"', name], {env: {PATH}}).status === 0;
    installed.set(name, found);
    return found;
  };
  /** A busy machine may refuse a process: try again. */
  const trace = async (argv: readonly string[], attempts = 5): Promise<string> => {
    const path = join(dir, 'log');
    rmSync(path, {force: true});
    await finished(bubblewrap(dir, 'log', argv));
    if (existsSync(path)) return readFileSync(path, 'utf8');
    if (attempts === 1) throw new Error(`cannot run ${argv.join(' ')} in a sandbox`);
    return trace(argv, attempts - 1);
  };
  return {
    run: async argv => {
      if (!isInstalled(argv[0] ?? '')) return undefined;
      const events = eventsIn(await trace(argv), WORKSPACE);
      if (events.some(({kind, what}) => kind === 'writes' && !what.startsWith('/'))) renew();
      return events;
    },
    renew,
    close,
  };
}

/** No network, a read-only system, and a workspace that may be written, so that an attempt succeeds and is seen. */
function bubblewrap(dir: string, log: string, argv: readonly string[]): string[] {
  const environment = {PATH, HOME: '/tmp', LC_ALL: 'C', TERM: 'dumb', GIT_CONFIG_NOSYSTEM: '1'};
  return [
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp'],
    ...['--bind', join(dir, 'ws'), WORKSPACE, '--bind', dir, '/tmp/log', '--chdir', WORKSPACE],
    ...['--unshare-all', '--die-with-parent', '--new-session', '--clearenv'],
    ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['timeout', '-s', 'KILL', String(SECONDS)],
    ...['strace', '-f', '-qq', '-s', '300', '-e', `trace=${TRACED}`, '-e', 'signal=none', '-o', `/tmp/log/${log}`],
    ...['--', ...argv],
  ];
}

function finished(args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('bwrap', args, {stdio: ['pipe', 'ignore', 'ignore'], env: {PATH}});
    child.stdin.on('error', () => {});
    child.stdin.end('one\ntwo\n');
    child.once('error', reject);
    child.once('close', () => resolve());
  });
}
