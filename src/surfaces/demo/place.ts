import {execFile} from 'node:child_process';
import {chmodSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {exit, UserError} from '../../formats/common/errors.ts';
import {setSetting} from '../../formats/settings.ts';
import {createHome} from '../../home/create.ts';
import {commitOnly, git} from '../../home/git/git.ts';

/** The docker stand-in: a script in the agent's workspace. */
const DOCKER = 'workspaces/executor-001/docker';

/** A folder for the home: temporary, or `dir`, which must be new or empty. */
export function makePlace(dir: string | undefined): string {
  if (dir === undefined) {
    try {
      return mkdtempSync(join(tmpdir(), 'agentdir-demo-'));
    } catch (error) {
      throw new UserError(
        `cannot create a folder for the demo in ${tmpdir()}: ${(error as Error).message}`,
        exit.failed,
        'choose another place: agentdir demo --dir DIR',
      );
    }
  }
  const place = resolve(dir);
  if (existsSync(place) && readdirSync(place).length > 0)
    throw new UserError(`${place} is not empty`, exit.usage, 'the demo creates its own home: name a new folder');
  return place;
}

/** Creates a home like `agentdir init`, with the additions of the demo as a second commit. */
export async function makeHome(home: string, source: string, slackUrl: string): Promise<void> {
  await createHome(home, source);
  cpSync(join(source, 'demo'), home, {recursive: true});
  chmodSync(join(home, DOCKER), 0o755);
  await tryDocker(home);
  const settings = join(home, 'agentdir.yaml');
  const text = readFileSync(settings, 'utf8');
  // Ignore API keys: the demo is offline.
  writeFileSync(settings, setSetting(setSetting(text, ['default_model'], 'playbook'), ['slack'], {api_url: slackUrl}));
  const paths = ['agentdir.yaml', 'playbooks/demo.playbook.yaml'];
  await git(home, ['add', '--', ...paths]);
  const done = await commitOnly(home, paths, 'demo: a playbook for its story, and a stand-in for Slack');
  if ('failed' in done) throw new UserError(`git commit failed: ${done.failed}`);
}

/** Some systems mount /tmp noexec. */
function tryDocker(home: string): Promise<void> {
  const docker = join(home, DOCKER);
  const args = ['ps', '--filter', 'name=redis', '--format', '{{.Status}}'];
  return new Promise((done, reject) => {
    execFile(docker, args, error => {
      if (!error) done();
      else
        reject(
          new UserError(
            `programs in ${home} cannot be run: ${error.message.trim()}`,
            exit.failed,
            'it may be mounted noexec; choose another place: agentdir demo --dir DIR',
          ),
        );
    });
  });
}
