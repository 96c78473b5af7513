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
