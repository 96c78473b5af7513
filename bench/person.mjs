// A person's own git commands beside a journal: four loops, one command at a time among themselves (flock), since git
// commands of theirs clash with each other anyway. Each line of the log is a command that ended: its code and words.
import {spawn} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

const loops = {
  commit: 'echo $i >> mine.txt; run git add mine.txt; run git commit -q -m "mine commit $i" || run git reset -q',
  stash: 'echo $i >> other.txt; run git stash push -q && run git stash pop -q',
  branch: 'run git checkout -q -b "branch-$i"',
  revert:
    'echo $i >> third.txt; run git add third.txt; run git commit -q -m "mine revert $i" && run git revert --no-edit "$(git log -1 --format=%H --grep="mine revert $i")" || { git revert --abort; git reset -q; } 2>/dev/null',
};

/** Run the loops in `dir` for `ms`; what became of each command. */
export async function beside(dir, ms, {pause = 0.05, env = process.env} = {}) {
  const log = join(dir, '.git/person.log');
  writeFileSync(log, '');
  const script = body => `
    run() { out=$("$@" 2>&1); code=$?; printf '%s\\t%s\\t%s\\n' "$code" "$*" "$(echo "$out" | tr '\\n' ' ')" >> .git/person.log; return $code; }
    i=0; end=$(( $(date +%s%N) + ${ms} * 1000000 ))
    while [ $(date +%s%N) -lt $end ]; do
      i=$((i+1)); exec 9>.git/person.flock; flock 9; ${body}; flock -u 9; sleep ${pause}
    done`;
  await Promise.all(
    Object.values(loops).map(
      body =>
        new Promise(resolve => {
          spawn('bash', ['-c', script(body)], {cwd: dir, env, stdio: ['ignore', 'ignore', 'inherit']}).on(
            'close',
            resolve,
          );
        }),
    ),
  );
  return readFileSync(log, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map(line => {
      const [code, command, words] = line.split('\t');
      return {ok: code === '0', command, words};
    });
}

/**
 * Change files of a journal at a steady rate: a new one, then one that was there, in turn; and after each move of HEAD
 * commit what differs from the file, as the daemon does.
 */
export async function steadily(journal, {ms, everyMs, paths, fileAt, write}) {
  const added = [];
  const author = {name: 'agent', email: 'agent@home'};
  const add = async (path, subject) => {
    for (;;) {
      try {
        added.push(journal.add({changes: [fileAt(path)], author, subject, trailers: []}));
        return;
      } catch (error) {
        // A stash of theirs makes it again at this moment.
        if (error.code !== 'ENOENT') throw error;
        await new Promise(resolve => setTimeout(resolve, 2));
      }
    }
  };
  const end = Date.now() + ms;
  let made = 0;
  while (Date.now() < end) {
    const path = made % 2 === 0 ? `memory/new-${made}.md` : paths[made % paths.length];
    write(path, `${made}\n`);
    await add(path, `ours ${made++}`);
    await new Promise(resolve => setTimeout(resolve, everyMs));
    for (const moved of await journal.refresh()) if (paths.includes(moved)) await add(moved, 'again');
  }
  return {made, added: await Promise.all(added)};
}
