#!/usr/bin/env node
import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {Command, CommanderError} from 'commander';
import {exit, UserError} from './errors.ts';
import {locateHome} from './store/locate.ts';

const packageRoot = fileURLToPath(new URL('..', import.meta.url));

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
    .command('check [files...]')
    .description('all problems of a home, or of some of its files; exit 4 on errors')
    .action(async (files: string[]) =>
      finish((await import('./surfaces/cli/check.ts')).check({home: home(), files, json: json()})),
    );
  program
    .command('tasks')
    .description('the tasks of all task files')
    .action(async () => finish((await import('./surfaces/cli/tasks.ts')).tasks({home: home(), json: json()})));
  program
    .command('agent [name]')
    .description('the agents, or everything about one')
    .action(async (name?: string) =>
      finish((await import('./surfaces/cli/agent.ts')).agent({home: home(), name, json: json()})),
    );
  const policy = program.command('policy').description('what agents may run, and why');
  policy
    .command('explain <command>')
    .description('the verdict on a command line, with its reasons')
    .option('--agent <name>', 'as this agent')
    .action(async (line: string, options: {agent?: string}) =>
      finish(
        (await import('./surfaces/cli/policy.ts')).explain({home: home(), line, agent: options.agent, json: json()}),
      ),
    );
  policy
    .command('test')
    .description("run allowlist.yaml's own tests")
    .action(async () => finish((await import('./surfaces/cli/policy.ts')).test({home: home(), json: json()})));
  program
    .command('start')
    .description('serve the home until stopped: check every edit and commit it as yours')
    .option('--once', 'work until nothing is left to do, then exit')
    .action(async (options: {once?: boolean}) => finish(await serveHome(home(), options.once === true, json())));
  return program;
}

async function serveHome(home: string, once: boolean, json: boolean): Promise<number> {
  const [{serve}, {reporter}] = await Promise.all([import('./daemon.ts'), import('./surfaces/cli/start.ts')]);
  return serve({home, once, report: reporter(json)});
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
    if (argv.includes('--json'))
      process.stdout.write(`${JSON.stringify({error: error.message, hint: error.hint ?? null})}\n`);
    process.stderr.write(`agentdir: ${error.message}\n${error.hint ? `  ${error.hint}\n` : ''}`);
    return error.exitCode;
  }
}

// A reader that has seen enough (agentdir tasks | head) is no error.
process.stdout.on('error', error => {
  if ((error as NodeJS.ErrnoException).code === 'EPIPE') process.exit(exit.done);
  throw error;
});

process.exitCode = await main(process.argv.slice(2));
