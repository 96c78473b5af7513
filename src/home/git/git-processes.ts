import {existsSync, readdirSync, readFileSync, readlinkSync, realpathSync} from 'node:fs';
import {uptime} from 'node:os';
import {dirname, join, resolve} from 'node:path';
import {existsProc, startOf} from '../disk/process-life.ts';
import {ownProcesses} from './git.ts';
import type {GitDirs} from './git-refs.ts';

/** Commands that move neither HEAD nor the index, or that git allows beside any other. */
const harmless = new Set(
  `annotate archive blame bugreport bundle cat-file check-attr check-ignore check-mailmap check-ref-format clone
  column commit-graph commit-tree config count-objects credential credential-cache credential-cache--daemon
  credential-store daemon describe diff diff-files diff-index diff-tree difftool fast-export fetch fetch-pack for-each-ref
  format-patch fsck fsmonitor--daemon gc get-tar-commit-id grep gui citool hash-object help http-backend index-pack
  init instaweb log ls-files ls-remote ls-tree maintenance merge-base merge-file merge-tree mktag mktree
  multi-pack-index name-rev pack-objects pack-redundant pack-refs patch-id prune-packed push range-diff receive-pack
  reflog remote remote-ftp remote-http remote-https repack replace request-pull rev-list rev-parse send-email send-pack
  shortlog show show-branch show-index show-ref status stripspace submodule--helper tag unpack-file unpack-objects
  upload-archive upload-pack var verify-commit verify-pack verify-tag version web--browse whatchanged write-tree`.split(
    /\s+/,
  ),
);
/** Commands that move HEAD or the index. They may run for long, with an editor open. */
const moving = new Set(
  `add am apply bisect branch checkout checkout-index cherry-pick clean commit filter-branch merge mv notes pull
  read-tree rebase reset restore revert rm sequencer sparse-checkout stage stash switch symbolic-ref update-index
  update-ref worktree prune`.split(/\s+/),
);

/** How long an alias or unknown command counts as moving. */
const UNKNOWN_MS = 10_000;
/** A young process may still become git by exec. */
const YOUNG_MS = 1_000;
const RECHECK_MS = 2_000;
/** The unit of a process's start in /proc, since the machine started. */
const TICK_MS = 10;

/** Finds the person's running git commands of one repository in /proc. Finds none without /proc. */
export class GitProcesses {
  readonly #dirs: GitDirs;
  readonly #top: string;
  readonly #others = new Map<string, {began: number; looked: number}>();
  readonly #firstSeen = new Map<string, number>();

  /** Whether this machine shows its processes. */
  readonly visible = existsProc();

  constructor(dirs: GitDirs, top: string) {
    this.#dirs = dirs;
    this.#top = top;
  }

  /** A running command that may move HEAD or the index, such as `git commit`. */
  underWay(): string | undefined {
    return this.running().values().next().value;
  }

  /** All such commands, by pid. */
  running(): Map<string, string> {
    const now = Date.now();
    const seen = new Set<string>();
    const found = new Map<string, string>();
    for (const pid of pids()) {
      seen.add(pid);
      const known = this.#others.get(pid);
      if (known && now - known.began > YOUNG_MS && now - known.looked < RECHECK_MS) continue;
      const {began, isGit} = known
        ? {began: known.began, isGit: text(`/proc/${pid}/comm`) === 'git\n'}
        : firstLook(pid, now);
      if (!isGit) {
        this.#others.set(pid, {began, looked: now});
        continue;
      }
      this.#others.delete(pid);
      const command = this.#describe(pid, now);
      if (command) found.set(pid, command);
    }
    for (const gone of [...this.#others.keys(), ...this.#firstSeen.keys()].filter(pid => !seen.has(pid))) {
      this.#others.delete(gone);
      this.#firstSeen.delete(gone);
    }
    return found;
  }

  #describe(pid: string, now: number): string | undefined {
    if (isOwn(pid)) return undefined;
    const line = text(`/proc/${pid}/cmdline`);
    // A process has no command line while it starts a program, and when it has ended.
    if (line === '') return startOf(Number(pid)) !== '' && this.#isHere(pid, []) ? 'git' : undefined;
    const words = line.split('\0');
    const {command, at} = commandOf(words);
    // Pruning removes objects that nothing refers to yet.
    const prunes = command === 'gc' && words.some(word => /^--prune=(?:now|all)$/.test(word));
    if (!command || (harmless.has(command) && !prunes)) return undefined;
    if (command === 'stash' && /^(?:list|show)$/.test(words[at + 1] ?? '')) return undefined;
    if (!moving.has(command) && !prunes) {
      const first = this.#firstSeen.get(pid) ?? now;
      this.#firstSeen.set(pid, first);
      if (now - first > UNKNOWN_MS) return undefined;
    }
    return this.#isHere(pid, words.slice(1, at)) ? `git ${command}` : undefined;
  }

  #isHere(pid: string, options: readonly string[]): boolean {
    try {
      let place = readlinkSync(`/proc/${pid}/cwd`);
      let named = /(?:^|\0)GIT_DIR=([^\0]*)/.exec(text(`/proc/${pid}/environ`))?.[1];
      for (const [i, option] of options.entries()) {
        if (option === '-C') place = resolve(place, options[i + 1] ?? '');
        if (option === '--git-dir') named = options[i + 1];
        else if (option.startsWith('--git-dir=')) named = option.slice(10);
      }
      if (named) return isSame(resolve(place, named), this.#dirs.own);
      if (place === this.#dirs.own || place.startsWith(`${this.#dirs.own}/`)) return true;
      // Ignore nested repositories.
      for (let dir = place; ; dir = dirname(dir)) {
        if (existsSync(join(dir, '.git'))) return isSame(dir, this.#top);
        if (dir === dirname(dir)) return false;
      }
    } catch {
      // The process has ended, or belongs to another user.
      return false;
    }
  }
}

/** When the process began, and whether it is git by now. */
function firstLook(pid: string, now: number): {began: number; isGit: boolean} {
  const stat = text(`/proc/${pid}/stat`);
  const end = stat.lastIndexOf(')');
  const ticks = Number(stat.slice(end + 2).split(' ')[19]);
  const age = uptime() * 1_000 - ticks * TICK_MS;
  return {began: age > 0 ? now - age : now, isGit: stat.slice(stat.indexOf('(') + 1, end) === 'git'};
}

/** Skip git's options before the command, some of which have a separate value. */
function commandOf(words: readonly string[]): {command: string | undefined; at: number} {
  let at = 1;
  for (; at < words.length; at++) {
    const word = words[at] ?? '';
    if (!word.startsWith('-')) break;
    if (/^(?:-C|-c|--git-dir|--work-tree|--namespace|--super-prefix|--config-env|--exec-path)$/.test(word)) at++;
  }
  return {command: words[at] || undefined, at};
}

/** Whether this process started the git command, directly or through another git command. */
function isOwn(pid: string): boolean {
  for (let id = Number(pid), depth = 0; id > 1 && depth < 8; depth++) {
    if (ownProcesses.has(id)) return true;
    const stat = text(`/proc/${id}/stat`);
    id = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  }
  return false;
}

function isSame(a: string, b: string): boolean {
  return a === b || realpathSync(a) === b;
}

function pids(): string[] {
  try {
    return readdirSync('/proc').filter(name => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

function text(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
