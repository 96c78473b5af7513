import {LUMP} from '../edits/git.mjs';
import {violate} from '../ledger.mjs';
import {agentdir, git, program, run} from '../run-command.mjs';
import {parsed} from './state.mjs';

/** What our own commands say of the home: `check`, `verify`, `replay --all`, and `start --once`, which finds nothing to do. */
export async function commands({ledger, modelEnv}, {home, items, sessions}) {
  const check = await agentdir(home, 'check', '--json');
  if (check.code !== 0) violate(ledger, 1, 'check finds errors although all was mended', check.stdout);
  const verify = await agentdir(home, 'verify', '--json');
  const lumps = new Set((await git(home, 'log', '--format=%H', `--grep=${LUMP}`)).stdout.split('\n'));
  const findings = (parsed(verify.stdout).findings ?? []).filter(({commit}) => !lumps.has(commit));
  if (findings.length > 0 || ![0, 1].includes(verify.code))
    violate(
      ledger,
      5,
      `verify finds something: ${findings[0]?.kind}`,
      JSON.stringify(findings, null, 1) + verify.stderr,
    );
  const replay = await agentdir(home, 'replay', '--all', '--json');
  const takenOut = await pathsOf(home, ledger.rewritten);
  const differences = [];
  for (const {session, differences: all} of parsed(replay.stdout).sessions ?? [])
    for (const each of all ?? [])
      if (!each.changed && !takenOut.has(each.path) && !(await isOvertaken(home, lumps, each)))
        differences.push({session, ...each});
  if (differences.length > 0 || ![0, 1].includes(replay.code))
    violate(ledger, 7, 'a replay differs', JSON.stringify(differences.slice(0, 3), null, 1) + replay.stderr);
  const waits = items.some(({status, decision}) => status === 'pending' && decision === undefined);
  const failed = sessions.some(({header}) => header?.status === 'error');
  const expected = failed ? 1 : waits ? 3 : 0;
  const once = await run(process.execPath, [program, 'start', '--once'], home, {env: modelEnv});
  if (once.code !== expected)
    violate(ledger, 11, `start --once exits ${once.code} instead of ${expected}`, once.stdout + once.stderr);
}

/** Files of commits that the person took out of the history: a step between two others is missing there. */
async function pathsOf(home, commits) {
  const paths = new Set();
  for (const id of commits) {
    const {stdout} = await git(home, 'diff-tree', '-r', '--no-commit-id', '--name-only', '-z', id);
    for (const path of stdout.split('\0')) if (path) paths.add(path);
  }
  return paths;
}

/** A step that was in a commit of all files at once already, and is told after it. */
async function isOvertaken(home, lumps, {commit, path}) {
  const {stdout} = await git(home, 'log', '--format=%H', commit, '--', path);
  const before = stdout.split('\n').filter(Boolean).slice(0, 10);
  return before.some(id => lumps.has(id));
}
