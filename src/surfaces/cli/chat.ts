import {execFile} from 'node:child_process';
import {exit, UserError} from '../../formats/common/errors.ts';
import type {ChatServices} from '../chat/services.ts';
import {isColoured} from '../terminal/output.ts';
import {approvalPage, whatRuns} from './approval-page.ts';
import {unsigned} from './approve-requests.ts';
import {onTerminal} from './keys.ts';

export interface ChatOptions {
  home: string;
  /** The program's own file. */
  program: string;
  /** Lines only, for screen readers. */
  plain: boolean;
  json: boolean;
}

/** On a terminal that can move its cursor: the screen; else lines. */
export async function chatCommand({home, program, plain, json}: ChatOptions): Promise<number> {
  if (json)
    throw new UserError('chat prints no JSON', exit.usage, 'for programs: agentdir send --wait --json, peek -f --json');
  const services = servicesOf(home, program);
  if (plain || !onTerminal() || isDumb()) return (await import('./line-chat.ts')).lineChat(services);
  await (await import('../chat/ui/run-chat.tsx')).runChat(services, process);
  const {daemonOf} = await import('../../home/status.ts');
  const {nodeDisk} = await import('../../home/disk/disk.ts');
  const {note} = await import('../terminal/output.ts');
  note(
    daemonOf(nodeDisk(home))
      ? 'the daemon and the agents keep running. To come back: agentdir chat; to stop it: agentdir stop'
      : 'no daemon is running; messages wait in their files: agentdir start',
  );
  return exit.done;
}

function isDumb(): boolean {
  const {TERM} = process.env;
  return TERM === undefined || TERM === '' || TERM === 'dumb';
}

function servicesOf(home: string, program: string): ChatServices {
  return {
    home,
    run: (args, width) => runCommand(home, program, args, width),
    startDaemon: async () => {
      const {code, text} = await runCommand(home, program, ['start', '--background'], 80);
      if (code !== exit.done) throw new UserError(text.trim().replace(/^agentdir: /, ''), code);
    },
    page: (request, page, width) => approvalPage(request, page, width, {brief: true}),
    summary: whatRuns,
    refusal: () => unsigned(home, false),
  };
}

const MOST_OUTPUT = 16 * 1024 * 1024;

function runCommand(
  home: string,
  program: string,
  args: readonly string[],
  width: number,
): Promise<{code: number; text: string}> {
  const isPainted = isColoured(process.stdout, process.env);
  const env = {...process.env, AGENTDIR_WIDTH: String(width), ...(isPainted ? {FORCE_COLOR: '1'} : {})};
  return new Promise(resolve => {
    const child = execFile(
      process.execPath,
      [program, '--home', home, ...args],
      {cwd: home, env, maxBuffer: MOST_OUTPUT},
      (error, stdout, stderr) =>
        resolve({
          code: error ? (typeof error.code === 'number' ? error.code : exit.failed) : exit.done,
          text: stdout + stderr,
        }),
    );
    child.stdin?.end();
  });
}
