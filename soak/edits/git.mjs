import {appendFileSync} from 'node:fs';
import {join} from 'node:path';
import {git} from '../run-command.mjs';

/** A person who commits all files at once may put several steps of an agent into one commit: nobody can tell their order then. */
export const LUMP = 'all at once';

/** A person's own git commands beside the daemon. They write their diary; of the home's files they want nothing. */
export function gitEdits(world) {
  const {random, ledger, home, disk} = world;
  let count = 0;

  async function command(...args) {
    const {code, stdout, stderr} = await git(home, ...args);
    ledger.counts.gitCommands++;
    if (code !== 0 && !disk.isFull() && /\.lock|cannot lock|Unable to/.test(stderr)) {
      ledger.counts.gitFailed++;
      world.tell(`git ${args.join(' ')}: ${stderr.trim()}`);
    }
    return {ok: code === 0, stdout, stderr};
  }
  const diary = () => {
    try {
      appendFileSync(join(home, 'own/diary.txt'), `day ${count++}\n`);
      return true;
    } catch {
      return false;
    }
  };
  /** What they took out of the history is theirs to take out. */
  async function rewrote(before) {
    const {stdout} = await git(home, 'rev-list', `HEAD..${before}`);
    for (const id of stdout.split('\n').filter(Boolean)) ledger.rewritten.add(id);
  }
  /** While it lasts, nobody can tell which commits are taken out. */
  const rewriting = work => async () => {
    const turn = by => {
      ledger.rewriting = {under: ledger.rewriting.under + by};
    };
    turn(1);
    try {
      return await work();
    } finally {
      turn(-1);
    }
  };
  /** See "Not counted" in docs/soak.md: a commit of all files beside what waits for the journal, or an old buffer in it while no daemon runs. */
  const nothingWaits = async () => {
    const {stdout} = await git(home, 'status', '--porcelain');
    return stdout.split('\n').every(line => line === '' || /^...?own\//.test(line));
  };
  const commit = async () =>
    diary() && (await command('add', 'own/diary.txt')).ok && (await command('commit', '-qm', `diary ${count}`)).ok;

  return {
    commit,
    commitAll: async () =>
      (await nothingWaits()) && diary() && (await command('commit', '-qam', `${LUMP} ${count}`)).ok,
    addAll: async () =>
      (await nothingWaits()) &&
      diary() &&
      (await command('add', '-A')).ok &&
      (await command('commit', '-qm', `${LUMP} ${count}`)).ok,
    stash: async () => {
      if (!diary() || !(await command('stash', 'push', '-q', '--', 'own/diary.txt')).ok) return;
      await command('stash', 'pop', '-q');
    },
    branch: () => command('checkout', '-q', '-b', `side-${count++}`),
    resetSoft: rewriting(async () => {
      const back = random.number(1, 4);
      const reset = await command('reset', '--soft', `HEAD~${back}`);
      if (reset.ok) await rewrote('ORIG_HEAD');
    }),
    gc: () => command('gc', '--quiet'),
    rebase: rewriting(async () => {
      if (!(await commit()) || !(await commit())) return;
      const {stdout} = await git(home, 'log', '-2', '--format=%s');
      if (
        !stdout
          .split('\n')
          .slice(0, 2)
          .every(subject => subject.startsWith('diary '))
      )
        return;
      const before = (await git(home, 'rev-parse', 'HEAD')).stdout.trim();
      const rebased = await command('rebase', '-q', '--force-rebase', 'HEAD~2');
      if (!rebased.ok) await git(home, 'rebase', '--abort');
      await rewrote(before);
      await rewrote('ORIG_HEAD');
    }),
    look: () => command('status', '--short'),
  };
}
