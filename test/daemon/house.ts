import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, expect} from 'vitest';
import {agentdir, git, put, thorough} from '../cli/run.ts';
import {expectReplayed} from '../replayed.ts';
import {type Served, serve} from './serve.ts';
import {expectSound} from './sound.ts';
import {POLICY, type Stage, setStage, TALKER} from './talk.ts';

/** One home, daemon and model server for all tests of a file; each test has sessions of its own. */
export interface House {
  home: string;
  stage: Stage;
  daemon: Served;
  /** How daemons are ended that were started in place of the first. */
  ends: (() => Promise<void>)[];
}

/**
 * `files` may name the server's URL. `env` is the daemon's, besides where the server is. In the end the home is sound
 * (but for `wrong`), and no request was invalid.
 */
export function openHouse(
  files: (url: string) => Record<string, string> = () => ({}),
  wrong: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): House {
  const dir = mkdtempSync(join(tmpdir(), 'agentdir-test-'));
  const house = {home: join(dir, 'home'), ends: []} as unknown as House;
  beforeAll(async () => {
    house.stage = await setStage();
    await makeTalkingHome(house.home, files(house.stage.server.url));
    house.daemon = await serve(house.home, {...house.stage.env, ...env}, end => house.ends.push(end));
  });
  afterAll(async () => {
    try {
      expect(await house.daemon.stop(), house.daemon.errors()).toBe(0);
      expect(house.stage.server.violations).toEqual([]);
      expect(house.stage.server.errors).toEqual([]);
      await expectSound(house.home, wrong);
      if (thorough) await expectReplayed(house.home);
    } finally {
      for (const end of house.ends) await end();
      await house.stage?.server.close();
      // A git of a daemon that was killed may still end there.
      rmSync(dir, {recursive: true, force: true, maxRetries: 20, retryDelay: 50});
    }
  });
  return house;
}

/** A home with the agent `talker`. */
export async function makeTalkingHome(home: string, files: Record<string, string> = {}): Promise<void> {
  const {stderr} = await agentdir(tmpdir(), ['init', home]);
  expect(stderr).toBe('');
  const all = {'templates/talker.agent.yaml': TALKER, 'allowlist.yaml': POLICY, ...files};
  put(home, all);
  await git(home, 'add', '--', ...Object.keys(all));
  await git(home, 'commit', '--quiet', '--message=before');
}
