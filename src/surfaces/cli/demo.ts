import {join} from 'node:path';
import {setTimeout as pause} from 'node:timers/promises';
import {exit} from '../../formats/common/errors.ts';
import type {DaemonEvent} from '../../formats/daemon-event.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {readStatus} from '../../home/status.ts';
import {startDaemon} from '../demo/daemon-child.ts';
import {jsonSteps} from '../demo/json-steps.ts';
import {makeHome, makePlace} from '../demo/place.ts';
import {screen} from '../demo/screen.ts';
import {startSlack} from '../demo/slack.ts';
import {play} from '../demo/story.ts';
import {taskTree, whatGitHas} from '../demo/tell-files.ts';
import type {StoryTeller} from '../demo/teller.ts';
import {untilEnter} from '../demo/tick.ts';
import {isOnPath} from './first-steps.ts';
import {onTerminal} from './keys.ts';

export interface DemoOptions {
  /** Tick the boxes automatically. */
  auto: boolean;
  /** No pauses for reading. */
  fast: boolean;
  /** Folder for the home (default: temporary). */
  dir: string | undefined;
  json: boolean;
  /** The package, and its program. */
  source: string;
  program: string;
}

const [LEAST_COLUMNS, MOST_COLUMNS] = [40, 120];
/** Time for last messages of agents. */
const QUIET_MS = 5_000;
/** npx may forward a signal twice: ignore the second within this time. */
const AGAIN_MS = 1_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** A token for the Slack stand-in only. */
const TOKEN = 'xoxb-agentdir-demo';

/** The story of a question in Slack, in a real home with a real daemon, without a network. */
export async function demoCommand(options: DemoOptions): Promise<number> {
  const leaving = untilSignal();
  const {signal} = leaving;
  const width = Math.min(MOST_COLUMNS, Math.max(LEAST_COLUMNS, process.stdout.columns || 80));
  const program = isOnPath(process.env.PATH ?? '') ? 'agentdir' : join(options.source, 'bin/agentdir');
  const paced = !options.fast && Boolean(process.stdout.isTTY);
  const teller = options.json ? jsonSteps : screen({paced, width, program, hears: onTerminal(), signal});
  const home = makePlace(options.dir);
  const ends: (() => Promise<void>)[] = [];
  try {
    const slack = await startSlack(TOKEN);
    ends.push(slack.close);
    await makeHome(home, options.source, slack.url);
    signal.throwIfAborted();
    const daemon = startDaemon(home, options.program, {SLACK_BOT_TOKEN: TOKEN}, said => tellAside(teller, said));
    ends.unshift(daemon.stop);
    leaving.again = daemon.kill;
    const asksForTick = (over: AbortSignal) =>
      untilEnter(over, typed => teller.aside(`"${typed}" is not understood: press Enter alone to tick the box`));
    const telling = async () => {
      await teller.begin(home);
      await daemon.serving;
      const played = await play({home, auto: options.auto, teller, slack, asksForTick, signal});
      await untilQuiet(home, signal);
      return played;
    };
    const {commits, sent} = await Promise.race([telling(), daemon.lost, leaving.asked]);
    await daemon.stop();
    await teller.end({home, tasks: taskTree(home), sent, ...(await whatGitHas(home, commits, width - 8))});
    return exit.done;
  } catch (error) {
    if (!signal.aborted) throw error;
    return exit.failed;
  } finally {
    for (const end of ends) await end();
    leaving.release();
    if (signal.aborted) {
      teller.stopped(home);
      // The usual exit code after a signal.
      process.kill(process.pid, leaving.name);
    }
  }
}

/** Reports problems beside the story, such as an error in the edited file. */
function tellAside(teller: StoryTeller, event: DaemonEvent): void {
  if (event.event === 'problem' && event.problem.severity === 'error') {
    const {file, line, message, hint} = event.problem;
    teller.aside(`${file}:${line}: ${message}${hint ? `; ${hint}` : ''}`);
  } else if (event.event === 'trouble') teller.aside(`waiting: ${event.what}`);
}

/** Waits for last messages of agents. */
async function untilQuiet(home: string, signal: AbortSignal): Promise<void> {
  for (const end = performance.now() + QUIET_MS; performance.now() < end; await pause(50, undefined, {signal}))
    if ((readStatus(nodeDisk(home))?.sessions.active ?? 0) === 0) return;
}

interface Leaving {
  signal: AbortSignal;
  /** Rejects at the first signal. */
  asked: Promise<never>;
  name: NodeJS.Signals;
  /** A second Ctrl-C quits at once. */
  again: () => void;
  release: () => void;
}

function untilSignal(): Leaving {
  const leave = new AbortController();
  const asked = new Promise<never>((_, reject) => {
    leave.signal.addEventListener('abort', () => reject(leave.signal.reason), {once: true});
  });
  asked.catch(() => {});
  let since = 0;
  const handler = (name: NodeJS.Signals) => {
    // npx forwards the signal again.
    if (leave.signal.aborted && performance.now() > since + AGAIN_MS) leaving.again();
    if (leave.signal.aborted) return;
    since = performance.now();
    leaving.name = name;
    leave.abort();
  };
  const leaving: Leaving = {
    signal: leave.signal,
    asked,
    name: 'SIGINT',
    again() {},
    release() {
      for (const name of SIGNALS) process.off(name, handler);
    },
  };
  for (const name of SIGNALS) process.on(name, handler);
  return leaving;
}
