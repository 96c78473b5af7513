import {execFileSync} from 'node:child_process';
import {cpus, loadavg, totalmem} from 'node:os';
import {fileURLToPath} from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What figures depend on. */
export function machine() {
  return {
    date: new Date().toISOString(),
    commit: output('git', ['-C', root, 'describe', '--always', '--dirty']),
    cores: cpus().length,
    cpu: cpus()[0]?.model ?? '',
    memoryGB: Math.round(totalmem() / 1024 ** 3),
    node: process.version,
    git: output('git', ['--version']).replace('git version ', ''),
    bubblewrap: output('bwrap', ['--version']).replace('bubblewrap ', ''),
    ripgrep: output('rg', ['--version']).split('\n')[0].replace('ripgrep ', ''),
    loadAtStart: loadavg().map(load => Number(load.toFixed(1))),
  };
}

/** A machine is quiet if what waits for a core is less than half of them. */
export const isQuiet = ({loadAtStart, cores}) => (loadAtStart[0] ?? 0) < cores / 2;

function output(command, args) {
  try {
    return execFileSync(command, args, {encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore']}).trim();
  } catch {
    return 'none';
  }
}
