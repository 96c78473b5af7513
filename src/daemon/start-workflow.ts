import {spawn} from 'node:child_process';
import type {WantedWorkflow, WorkflowStart} from '../agents/world/world.ts';
import {exit} from '../formats/common/errors.ts';
import {visibleLine} from '../formats/common/visible.ts';

const MOST_ERROR = 2_000;

/**
 * Start a workflow with a command of this program, which runs its setup as the person who started the daemon. The command ends with the
 * daemon; a setup command that was under way then is not run again by itself.
 */
export function startWorkflow(home: string, {workflow, instance, params}: WantedWorkflow): Promise<WorkflowStart> {
  const [, program = ''] = process.argv;
  const given = Object.entries(params).map(([name, value]) => `--${name}=${value}`);
  const args = [program, '--home', home, 'start', workflow, '--instance', instance, '--background', '--json', ...given];
  const {AGENTDIR_LOG: _, ...env} = process.env;
  return new Promise(resolve => {
    const child = spawn(process.execPath, args, {
      cwd: home,
      env: {...env, AGENTDIR_SERVED_BY: String(process.pid)},
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const end = () => child.kill('SIGKILL');
    process.once('exit', end);
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors = (errors + text).slice(-MOST_ERROR);
    });
    child.once('error', error => resolve({failed: error.message, again: true}));
    child.once('close', (code, signal) => {
      process.off('exit', end);
      if (code === 0) return resolve({started: true});
      const why = visibleLine(errors.trim().replace(/^agentdir: /, '')) || `it ended with ${signal ?? code}`;
      const isBusy = signal !== null || code === exit.daemon;
      return resolve(isBusy ? {failed: why, again: true} : {failed: why});
    });
  });
}
