import {spawn} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {createInterface} from 'node:readline';
import {crashLabels} from '../dist/home/disk/crash.js';
import {violate} from './ledger.mjs';
import {environment, pause, program, until} from './run-command.mjs';

/** Labels that a daemon serving a home may pass; the others are passed by commands. */
const labels = crashLabels.filter(
  label => !['spawn-background', 'inbox-append', 'inbox-appended', 'command-note'].includes(label),
);

/** Those that any work passes. */
const usual = labels.filter(label =>
  /^(?:journal-(?!pack)|save-|turn-|call-|delivery|workspace|cache|needs)/.test(label),
);

/** V8 lets a heap grow as long as there is room. With this much a daemon that leaks ends by itself, which is a violation. */
const HEAP_MB = 256;

/** The daemon of the home: started, killed and started again. Only one at a time. */
export function keepDaemon(world) {
  const {home, ledger, random} = world;
  const lives = [];
  let life;

  /** Start one. `crashAt`: a label at which it is to die. */
  function start(crashAt) {
    const child = spawn(process.execPath, [`--max-old-space-size=${HEAP_MB}`, program, 'start', '--json'], {
      cwd: home,
      env: {
        ...environment,
        ...world.modelEnv,
        ...(crashAt ? {AGENTDIR_CRASH_AT: crashAt} : {}),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const own = {
      child,
      crashAt,
      began: performance.now(),
      rss: [],
      serving: false,
      spoke: false,
      ended: undefined,
      words: '',
      wanted: '',
    };
    createInterface({input: child.stdout}).on('line', line => hear(own, line));
    child.stderr.on('data', chunk => {
      own.words = (own.words + chunk).slice(-4000);
    });
    own.exited = new Promise(resolve => {
      child.once('close', (code, signal) => {
        own.ended = signal ?? code;
        judgeEnd(own);
        resolve(own.ended);
      });
    });
    ledger.counts.starts++;
    lives.push(own);
    life = own;
    return own;
  }

  function hear(own, line) {
    let told;
    own.spoke = true;
    try {
      told = JSON.parse(line);
    } catch {
      // A line that the kill cut off.
      if (own.ended === undefined && !own.wanted)
        violate(ledger, 'operation', 'the daemon printed what is no JSON', line);
      return;
    }
    if (told.event === 'serving') own.serving = true;
    if (told.event !== 'committed') return;
    ledger.committed.set(told.commit, told.subject);
    for (const path of told.paths ?? []) ledger.committedAt.set(path, performance.now());
  }

  /** Nothing but what it was told to do ends it, and a full disk at its start. */
  function judgeEnd({wanted, crashAt, ended, words, serving, spoke}) {
    if (wanted === 'kill' && ended === 'SIGKILL') return;
    // It was loading, and is not yet there to hear of it.
    if (wanted === 'stop' && ended === 'SIGTERM' && !spoke && words === '') return;
    if (wanted === 'stop' && ended === 0 && words === '') return;
    if (crashAt && ended === 'SIGKILL') {
      ledger.counts.crashes++;
      const label = crashAt.split(':')[0];
      ledger.labels.set(label, (ledger.labels.get(label) ?? 0) + 1);
      return;
    }
    if (!serving && /disk is full|no space/i.test(words)) return;
    violate(ledger, 'operation', `the daemon ended by itself: ${ended}`, words);
  }

  async function end(how) {
    const own = life;
    if (!own || own.ended !== undefined) return;
    own.wanted = how;
    own.child.kill(how === 'kill' ? 'SIGKILL' : 'SIGTERM');
    ledger.counts[how === 'kill' ? 'kills' : 'stops']++;
    if (how === 'stop' && !(await until(() => own.ended !== undefined, 60_000))) {
      violate(ledger, 'operation', 'the daemon did not stop within a minute');
      own.child.kill('SIGKILL');
    }
    await own.exited;
  }

  /** A life of random length, ended in a random way. */
  async function liveOnce(isOver) {
    const label = random.pick(random.chance(0.7) ? usual : labels);
    const crashAt = random.chance(0.6) ? `${label}:${random.number(1, 12)}` : undefined;
    const own = start(crashAt);
    // Most die at work, some while they start.
    if (random.chance(0.8)) await until(() => own.serving || own.ended !== undefined || isOver(), 20_000, 20);
    const most = random.between(50, 6_000);
    await until(() => own.ended !== undefined || isOver(), most, 20);
    if (isOver()) {
      if (own.ended === undefined && !crashAt) return;
      if (own.ended === undefined) await end('kill');
      return;
    }
    if (own.ended === undefined) await end(random.chance(0.8) ? 'kill' : 'stop');
    await pause(random.between(0, 400));
  }

  return {
    lives,
    start,
    end,
    isUp: () => life !== undefined && life.ended === undefined,
    isServing: () => life?.ended === undefined && life?.serving === true,
    pid: () => life?.child.pid,
    liveOnce,
    /** One that is not to die: the one there is, or a new one. */
    ensure: async () => {
      if (life && life.ended === undefined && life.crashAt) await end('kill');
      if (!life || life.ended !== undefined) start();
      return until(() => life.serving || life.ended !== undefined, 120_000).then(() => life.serving);
    },
    sample: () => {
      if (!life || life.ended !== undefined) return;
      try {
        const kb = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${life.child.pid}/status`, 'utf8'))?.[1];
        if (kb) life.rss.push([(performance.now() - life.began) / 60_000, Number(kb) / 1024]);
      } catch {
        // Gone since.
      }
    },
  };
}
