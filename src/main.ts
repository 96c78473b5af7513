import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {Command, CommanderError} from 'commander';
import type {ServeOptions} from './daemon.ts';
import {exit, UserError} from './errors.ts';
import {locateHome} from './store/locate.ts';
import {addApprovals} from './surfaces/cli/approval-commands.ts';
import {addConnectors} from './surfaces/cli/connector-commands.ts';
import {addHistory} from './surfaces/cli/history-commands.ts';
import {whole} from './surfaces/cli/number-argument.ts';
import {addTalking} from './surfaces/cli/talk-commands.ts';
import {addTask} from './surfaces/cli/task-commands.ts';
import {addWorkspace} from './surfaces/cli/workspace-commands.ts';

const packageRoot = fileURLToPath(new URL('..', import.meta.url));
const self = `${packageRoot}bin/main.js`;

interface Globals {
  home?: string;
  json?: boolean;
}

/** argv → command → exit code. Each command's code is loaded only when it is used. */
function buildProgram(finish: (code: number) => void): Command {
  const {version} = JSON.parse(readFileSync(`${packageRoot}package.json`, 'utf8')) as {version: string};
  const program = new Command('agentdir')
    .description('To AI agents what Maildir is to mail: a directory of text files is the system.')
    .version(version)
    .option('--home <dir>', 'the home (default: AGENTDIR_HOME, else the nearest parent with agentdir.yaml)')
    .option('--json', 'machine-readable output, nothing else on stdout')
    .showSuggestionAfterError()
    .showHelpAfterError('(agentdir --help lists the commands)')
    .exitOverride();
  const globals = () => program.opts<Globals>();
  const home = () => locateHome(globals().home, process.cwd(), process.env);
  const json = () => globals().json === true;

  program
    .command('init [dir]')
    .description('make a home: templates, policy, example memory, git repository; never overwrites')
    .action(async (dir = '.') =>
      finish(await (await import('./surfaces/cli/init.ts')).init({dir, source: packageRoot, json: json()})),
    );
  program
    .command('demo')
    .description('a question in Slack, answered by four agents: a story of some twenty seconds, in a home of its own')
    .option('--auto', 'tick the two boxes, too')
    .option('--fast', 'without pauses for reading; so it is where standard output is no terminal')
    .option('--dir <dir>', 'where to make its home: a new or empty folder (default: a temporary one)')
    .action(async (options: {auto?: boolean; fast?: boolean; dir?: string}) => {
      if (globals().home !== undefined)
        throw new UserError('demo makes a home of its own', exit.usage, 'to say where: agentdir demo --dir DIR');
      finish(
        await (await import('./surfaces/cli/demo.ts')).demo({
          auto: options.auto === true,
          fast: options.fast === true,
          dir: options.dir,
          json: json(),
          source: packageRoot,
          program: self,
        }),
      );
    });
  program
    .command('check [files...]')
    .description('all problems of a home, or of some of its files; exit 4 on errors')
    .action(async (files: string[]) =>
      finish((await import('./surfaces/cli/check.ts')).check({home: home(), files, json: json()})),
    );
  program
    .command('tasks [sql]')
    .description('the tasks of all task files, and what each waits for; or a SELECT over them: see docs/query.md')
    .action(async (sql?: string) =>
      finish(
        sql === undefined
          ? (await import('./surfaces/cli/tasks.ts')).tasks({home: home(), json: json()})
          : await (await import('./surfaces/cli/query.ts')).query({home: home(), sql, json: json()}),
      ),
    );
  program
    .command('agent [name]')
    .description('the agents, or everything about one')
    .action(async (name?: string) =>
      finish((await import('./surfaces/cli/agent.ts')).agent({home: home(), name, json: json()})),
    );
  addTask(program, {home, json, finish});
  const policy = program.command('policy').description('what agents may run, and why');
  policy
    .command('explain <command...>')
    .description('the verdict on a command line, with its reasons; quote the line, or - to read it from standard input')
    .option('--agent <name>', 'as this agent')
    .allowUnknownOption()
    .action(async (words: string[], options: {agent?: string}) =>
      finish(
        (await import('./surfaces/cli/policy.ts')).explain({home: home(), words, agent: options.agent, json: json()}),
      ),
    );
  policy
    .command('what-if')
    .description('which commands and tools of the whole journal another allowlist would judge otherwise')
    .requiredOption('--allowlist <file>', 'the allowlist to try; - reads standard input')
    .option('--agent <name>', 'only what this agent called')
    .action(async (options: {allowlist: string; agent?: string}) =>
      finish(
        await (await import('./surfaces/cli/what-if.ts')).policyWhatIf({
          home: home(),
          allowlist: options.allowlist,
          agent: options.agent,
          json: json(),
        }),
      ),
    );
  policy
    .command('test')
    .description("run allowlist.yaml's own tests")
    .action(async () => finish((await import('./surfaces/cli/policy.ts')).test({home: home(), json: json()})));
  program
    .command('start')
    .description('serve the home until stopped: check every edit, complete it, and commit it as yours')
    .option('--once', 'work until nothing is left to do, then exit')
    .option('--background', 'go on without this terminal; see stop, restart, status')
    .action(async (options: {once?: boolean; background?: boolean}) => {
      if (options.once && options.background)
        throw new UserError('--once and --background exclude each other', exit.usage);
      if (options.background)
        finish(await (await background()).startInBackground({home: home(), program: self, json: json()}));
      else finish(await serveHome(home(), options.once === true, json(), version));
    });
  program
    .command('stop')
    .description('stop the daemon; returns when it is gone, after 10 seconds at most')
    .action(async () => finish(await (await background()).stopDaemon({home: home(), json: json()})));
  program
    .command('restart')
    .description('stop the daemon, if there is one, and start it in the background')
    .action(async () => finish(await (await background()).restartDaemon({home: home(), program: self, json: json()})));
  program
    .command('status')
    .description('the daemon, the home, and what waits for you; exit 5 if no daemon runs')
    .action(async () => finish((await import('./surfaces/cli/status.ts')).status({home: home(), json: json()})));
  program
    .command('log [what]')
    .description('the journal in plain words: all of it, or about an agent, session, task or file')
    .option('-f, --follow', 'go on as things happen')
    .option('-n, --count <number>', 'the last so many (default: 30, with --json all)', whole)
    .action(async (what: string | undefined, options: {follow?: boolean; count?: number}) =>
      finish(
        await (await import('./surfaces/cli/log.ts')).log({
          home: home(),
          what,
          follow: options.follow === true,
          count: options.count,
          json: json(),
        }),
      ),
    );
  program
    .command('verify [what]')
    .description('every execution in the journal without a valid decision before it; or those of a session or approval')
    .action(async (what?: string) =>
      finish(await (await import('./surfaces/cli/verify.ts')).verify({home: home(), what, json: json()})),
    );
  program
    .command('replay [sessions...]')
    .description('sessions once more, offline, with the answers and results that were recorded: the first difference')
    .option('--all', 'all sessions that the journal has')
    .option('--policy <when>', 'then: calls are judged by the policy of their time; now: by the one on disk', 'then')
    .option('-v, --verbose', 'all differences, and what people changed')
    .action(async (sessions: string[], options: {all?: boolean; policy: string; verbose?: boolean}) =>
      finish(
        await (await import('./surfaces/cli/replay.ts')).replaySessions({
          ...{home: home(), json: json(), sessions, policy: options.policy},
          ...{all: options.all === true, verbose: options.verbose === true},
        }),
      ),
    );
  addTalking(program, {home, json, finish});
  addApprovals(program, {home, json, finish});
  addWorkspace(program, {home, json, finish});
  addHistory(program, {home, json, finish});
  addConnectors(program, {home, json, finish});
  program
    .command('doctor')
    .description('what this machine has and lacks, and what to do about it')
    .action(async () => finish(await (await import('./surfaces/cli/doctor.ts')).doctor({home: home(), json: json()})));
  return program;
}

const background = () => import('./surfaces/cli/background.ts');

async function serveHome(home: string, once: boolean, json: boolean, version: string): Promise<number> {
  endWithParent();
  const [{serve}, report] = await Promise.all([import('./daemon.ts'), reporter(once, json)]);
  return serve({home, once, version, report});
}

/** Whoever starts us with a channel, as `agentdir demo` does, takes us along when it ends, however it ends. */
function endWithParent(): void {
  if (!process.connected) return;
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel?.unref();
}

async function reporter(once: boolean, json: boolean): Promise<ServeOptions['report']> {
  const log = process.env.AGENTDIR_LOG;
  if (log && !once) return (await import('./surfaces/cli/log-file.ts')).logReporter(log);
  return json
    ? (await import('./surfaces/cli/start-json.ts')).jsonReporter
    : (await import('./surfaces/cli/start.ts')).reporter;
}

async function main(argv: readonly string[]): Promise<number> {
  let code: number = exit.done;
  const program = buildProgram(result => {
    code = result;
  });
  try {
    await program.parseAsync([...argv], {from: 'user'});
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exit.done : exit.usage;
    if (!(error instanceof UserError)) throw error;
    (await import('./surfaces/cli/output.ts')).printError(error, argv.includes('--json'));
    return error.exitCode;
  }
}

/** The whole program: src/launch.cts calls it. Loading this file does nothing. */
export async function run(): Promise<void> {
  // A reader that has seen enough (agentdir tasks | head) is no error.
  process.stdout.on('error', error => {
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') process.exit(exit.done);
    throw error;
  });
  process.exitCode = await main(process.argv.slice(2));
}
