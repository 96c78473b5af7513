import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, expect} from 'vitest';
import {agentdir, git, put} from '../cli/run.ts';
import {type Served, serve} from './serve.ts';
import {expectSound} from './sound.ts';
import {POLICY, type Stage, setStage, TALKER} from './talk.ts';

/** One home, daemon and model server for all tests of a file; each test has sessions of its own. */
export interface House {
  home: string;
  stage: Stage;
  daemon: Served;
}

/** `files` may name the server's URL. In the end the home is sound (but for `wrong`), and no request was invalid. */
export function openHouse(
  files: (url: string) => Record<string, string> = () => ({}),
  wrong: readonly string[] = [],
): House {
  const dir = mkdtempSync(join(tmpdir(), 'agentdir-test-'));
  const house = {home: join(dir, 'home')} as House;
  let kill = async () => {};
  beforeAll(async () => {
    house.stage = await setStage();
    await makeTalkingHome(house.home, files(house.stage.server.url));
    house.daemon = await serve(house.home, house.stage.env, end => {
      kill = end;
    });
  });
  afterAll(async () => {
    try {
      expect(await house.daemon.stop(), house.daemon.errors()).toBe(0);
      expect(house.stage.server.violations).toEqual([]);
      expect(house.stage.server.errors).toEqual([]);
      await expectSound(house.home, wrong);
    } finally {
      await kill();
      await house.stage?.server.close();
      rmSync(dir, {recursive: true, force: true});
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
