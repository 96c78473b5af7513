import {spawn} from 'node:child_process';
import type {With} from '../agents/state/parts.ts';
import {isAtWork} from '../agents/turns/at-work.ts';
import {jsonText, visibleLine} from '../formats/common/visible.ts';
import type {DaemonEvent} from '../formats/daemon-event.ts';
import type {NotifySetting, notifyEvents} from '../formats/settings.ts';

type NotifyEvent = (typeof notifyEvents)[number];

/** What a person is told: one JSON value on the standard input of their command. */
interface Notification {
  on: NotifyEvent;
  home: string;
  title: string;
  text: string;
  agent?: string;
  session?: string;
  approval?: string;
  risk?: string;
}

type Served = With<'files' | 'mail' | 'current' | 'turns'>;

/** A command that does not end by then is killed. */
const COMMAND_MS = 30_000;
/** Nothing may be at work for so long before that counts as idle. */
const IDLE_MS = 1_500;
/** More notifications than this do not wait: a person who gets so many looks anyway. */
const MOST_WAITING = 20;

/** Runs the commands of `notify:` in agentdir.yaml, one after the other. Must not throw: nothing depends on them. */
export class Notifier {
  readonly #home: string;
  readonly #environment: NodeJS.ProcessEnv;
  #daemon: Served | undefined;
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();
  #worked = false;
  #isWatching = false;

  constructor(home: string, environment: NodeJS.ProcessEnv) {
    this.#home = home;
    this.#environment = environment;
  }

  serve(daemon: Served): void {
    this.#daemon = daemon;
  }

  follow(event: DaemonEvent): void {
    const home = this.#home;
    if (event.event === 'asked') {
      const {agent, session, id, risk, what} = event;
      const title = `${agent} asks for your approval`;
      this.#tell({on: 'approval', home, title, text: what, agent, session, approval: id, risk});
    } else if (event.event === 'failed') {
      const {agent, session, why, hint} = event;
      this.#tell({on: 'failed', home, title: `${agent} failed`, text: `${why}; ${hint}`, agent, session});
    } else if (event.event === 'answered' || event.event === 'called') {
      this.#worked = true;
      void this.#watchForIdle();
    }
  }

  async #watchForIdle(): Promise<void> {
    if (this.#isWatching) return;
    this.#isWatching = true;
    try {
      const daemon = this.#daemon;
      if (!daemon || (await this.#settingsFor('idle')).length === 0) return;
      const {clock} = daemon.files.disk;
      let since = clock.monotonic();
      while (this.#worked && !daemon.turns.stopped) {
        await new Promise<void>(resolve => clock.after(IDLE_MS / 5, resolve));
        if (anyAtWork(daemon)) since = clock.monotonic();
        else if (clock.monotonic() - since >= IDLE_MS) {
          this.#worked = false;
          this.#tell({on: 'idle', home: this.#home, title: 'all agents are idle', text: 'nothing is left to do'});
        }
      }
    } finally {
      this.#isWatching = false;
    }
  }

  async #settingsFor(on: NotifyEvent): Promise<NotifySetting[]> {
    const {notify} = (await this.#daemon?.current.settings()) ?? {};
    const all = Array.isArray(notify) ? notify : notify ? [notify] : [];
    return all.filter(each => each.on === undefined || [each.on].flat().includes(on));
  }

  #tell(notification: Notification): void {
    if (this.#waiting >= MOST_WAITING) return;
    this.#waiting++;
    this.#last = this.#last
      .then(async () => {
        for (const setting of await this.#settingsFor(notification.on)) await this.#run(setting, notification);
      })
      .catch(() => {})
      .finally(() => {
        this.#waiting--;
      });
  }

  #run(setting: NotifySetting, notification: Notification): Promise<void> {
    const command =
      'command' in setting
        ? (['sh', '-c', String(setting.command)] as const)
        : setting.desktop
          ? desktopCommand(notification)
          : undefined;
    if (!command) return Promise.resolve();
    const [program, ...args] = command;
    return new Promise(resolve => {
      const child = spawn(program, args, {
        cwd: this.#home,
        env: this.#environment,
        detached: true,
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      const timer = setTimeout(() => endGroup(child.pid), COMMAND_MS);
      timer.unref();
      const ended = () => {
        clearTimeout(timer);
        resolve();
      };
      child.once('error', ended).once('exit', ended);
      child.stdin.on('error', () => {});
      child.stdin.end(`${jsonText(notification)}\n`);
      child.unref();
    });
  }
}

function anyAtWork({files, mail}: Served): boolean {
  for (const path of files.index.paths()) {
    const session = files.index.facts(path)?.session;
    if (session && !session.segment && session.status !== 'error' && session.status !== 'paused')
      if (isAtWork({files, mail}, path)) return true;
  }
  return false;
}

/** Texts of agents are arguments of their own, never part of a script. */
function desktopCommand({title, text}: Notification): readonly [string, ...string[]] {
  const words = [visibleLine(title), visibleLine(text).slice(0, 200)] as const;
  if (process.platform === 'darwin') {
    const script = 'on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run';
    return ['osascript', '-e', script, ...words];
  }
  // Desktops read the body as markup, with links and images.
  const [summary, body] = words;
  return ['notify-send', '--app-name=agentdir', '--', summary, body.replace(/[&<>]/g, char => entities[char] ?? '')];
}

const entities: Readonly<Record<string, string>> = {'&': '&amp;', '<': '&lt;', '>': '&gt;'};

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
