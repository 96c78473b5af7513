import {execFileSync, spawnSync} from 'node:child_process';
import {dirname} from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {environment, main, newHome} from './run.ts';

/** Root may write everywhere, so as root the commands run as another user. */
const uid = process.getuid?.() === 0 ? 61_234 : undefined;
const user = uid === undefined ? {} : {uid, gid: uid};
const possible = spawnSync(process.execPath, [main, '--version'], {...user, cwd: '/'}).status === 0;

describe.skipIf(!possible)('a home that may not be written', () => {
  it.each(['send hello', 'start', 'start --once', 'start --background', 'restart', 'task add x', 'new planner-001'])(
    '%s says so in a sentence, with what to do',
    async line => {
      const home = await newHome();
      if (uid !== undefined) execFileSync('chown', ['-R', `${uid}:${uid}`, dirname(home)]);
      execFileSync('chmod', ['-R', 'a-w', home]);
      onTestFinished(() => {
        execFileSync('chmod', ['-R', 'u+w', home]);
      });
      const {status, stderr} = spawnSync(process.execPath, [main, ...line.split(' ')], {
        ...user,
        cwd: home,
        env: environment,
      });
      expect(stderr.toString()).toMatch(
        /^agentdir: \S+ cannot be (?:written|opened): no permission\n {2}check the owner and mode of its folder: ls -ld \/\S+\n$/,
      );
      expect(status).toBe(1);
    },
  );
});

/** Mounts a home read-only in a namespace of its own, and runs the commands there. */
const MOUNT =
  'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" "$0" && cd "$0" && for c in "$@"; do "$NODE" "$MAIN" $c; done';
const mounts = spawnSync('unshare', ['-m', 'true']).status === 0;

describe.skipIf(!mounts)('a home on a read-only file system', () => {
  it('is refused in a sentence', async () => {
    const home = await newHome();
    const lines = [
      'send hello',
      'start',
      'start --background',
      'task add x',
      'new planner-001',
      'agents add x --template coder',
    ];
    const env = {...environment, NODE: process.execPath, MAIN: main};
    const {stderr} = spawnSync('unshare', ['-m', 'bash', '-c', MOUNT, home, ...lines], {env});
    const told = stderr.toString().trimEnd().split('\n');
    expect(told).toHaveLength(lines.length);
    for (const line of told)
      expect(line).toMatch(/^agentdir: \S+ cannot be (?:written|opened): the file system is read-only$/);
  });
});
