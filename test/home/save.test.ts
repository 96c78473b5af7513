import {spawn} from 'node:child_process';
import {mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {text} from 'node:stream/consumers';
import {fileURLToPath} from 'node:url';
import {describe, expect, it} from 'vitest';
import {loadSwap} from '../../src/home/disk/swap.ts';
import {agentdir, environment, newHome, temporary, until} from '../cli/run.ts';

const child = fileURLToPath(new URL('save-child.mjs', import.meta.url));
const canSwap = await loadSwap();

/** Somebody saves as editors do, by a rename, while a process of ours saves the same file without a pause: how many of theirs were lost. */
async function lostOf(rounds: number, env: NodeJS.ProcessEnv): Promise<{lost: number; saves: number; left: string[]}> {
  const home = join(temporary(), 'folder');
  const path = join(home, 'tasks/a.md');
  mkdirSync(join(home, 'tasks'), {recursive: true});
  mkdirSync(join(home, '.agentdir'));
  writeFileSync(path, 'edit 0\n');
  const ours = spawn(process.execPath, [child, home, 'tasks/a.md'], {env: {...process.env, ...env}, stdio: 'pipe'});
  const said = Promise.all([text(ours.stdout), text(ours.stderr)]);
  const lines = () => readFileSync(path, 'utf8').split('\n');
  let lost = 0;
  for (let n = 1; n <= rounds; n++) {
    let [first, last] = lines();
    writeFileSync(join(home, 'theirs'), `edit ${n}\n`);
    renameSync(join(home, 'theirs'), path);
    // Then it is saved once more: from theirs, or from what was there before. For an instant that one may be there again.
    for (let looks = 0; looks < 3 && first !== `edit ${n}`; looks++)
      [first, last] = await until(lines, ([, second = '']) => second !== '' && second !== last);
    if (first !== `edit ${n}`) lost++;
  }
  ours.stdin.end();
  const [out, errors] = await said;
  expect(errors).toBe('');
  return {lost, saves: Number(out), left: readdirSync(join(home, 'tasks'))};
}

describe('a save', () => {
  it.runIf(canSwap)('takes no file with it that somebody put in place at the last moment', async () => {
    const rounds = process.env.FUZZ ? 400 : 100;
    expect(await lostOf(rounds, {})).toEqual({lost: 0, saves: expect.any(Number), left: ['a.md']});
  });

  it('does without where files cannot change places', async () => {
    const {saves, left} = await lostOf(20, {AGENTDIR_NO_SWAP: '1'});
    expect(saves).toBeGreaterThanOrEqual(20);
    expect(left).toEqual(['a.md']);
  });

  it('says in agentdir doctor whether it can', async () => {
    const home = await newHome();
    const told = async (env: NodeJS.ProcessEnv) => {
      const {stdout} = await agentdir(home, ['doctor', '--json'], {...environment, ...env});
      return (JSON.parse(stdout) as {name: string; state: string}[]).find(({name}) => name === 'saves')?.state;
    };
    expect(await told({AGENTDIR_NO_SWAP: '1'})).toBe('note');
    expect(await told({})).toBe(canSwap ? 'ok' : 'note');
    expect(readdirSync(join(home, '.agentdir')).filter(name => name.startsWith('swap-'))).toEqual([]);
  });
});
