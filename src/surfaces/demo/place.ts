import {execFile} from 'node:child_process';
import {chmodSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {exit, UserError} from '../../formats/common/errors.ts';
import {setSetting} from '../../formats/settings.ts';
import {createHome} from '../../home/create.ts';
import {commitOnly, git} from '../../home/git/git.ts';

/** What answers in place of docker: a script in the workspace of the agent that runs it. */
const DOCKER = 'workspaces/executor-001/docker';

/** A folder for the home: a new one in the system's own for such things, or `dir`, which must be new or empty. */
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

/** A home as `agentdir init` makes it, and what the demo adds: in a commit of its own, for everybody to see. */
export async function makeHome(home: string, source: string, slackUrl: string): Promise<void> {
  await createHome(home, source);
  cpSync(join(source, 'demo'), home, {recursive: true});
  chmodSync(join(home, DOCKER), 0o755);
  await tryDocker(home);
  const settings = join(home, 'agentdir.yaml');
  const text = readFileSync(settings, 'utf8');
  // Whatever keys are set on this machine: the demo is offline.
  writeFileSync(settings, setSetting(setSetting(text, ['default_model'], 'playbook'), ['slack'], {api_url: slackUrl}));
  const paths = ['agentdir.yaml', 'playbooks/demo.playbook.yaml'];
  await git(home, ['add', '--', ...paths]);
  const done = await commitOnly(home, paths, 'demo: a playbook for its story, and a stand-in for Slack');
  if ('failed' in done) throw new UserError(`git commit failed: ${done.failed}`);
}

/** Some systems run nothing that lies in their folder for temporary files. */
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
