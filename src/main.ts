import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {CommanderError} from 'commander';
import type {ServeOptions} from './daemon/daemon.ts';
import {exit, UserError} from './formats/common/errors.ts';
import {locateHome} from './home/locate.ts';
import {buildCommands} from './surfaces/cli/commands.ts';

const packageRoot = fileURLToPath(new URL('..', import.meta.url));
const self = `${packageRoot}bin/main.js`;

function versionOf(): string {
  return (JSON.parse(readFileSync(`${packageRoot}package.json`, 'utf8')) as {version: string}).version;
}

async function serveHome(home: string, once: boolean, json: boolean, version: string): Promise<number> {
  endWithParent();
  const [{serve}, report] = await Promise.all([import('./daemon/daemon.ts'), reporter(once, json)]);
  whenUnread = () => void process.kill(process.pid, 'SIGTERM');
  // Serving the home is worth more than the log: a full disk under it ends nothing.
  whenUnwritable = () => {};
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

/** Without a command, on a terminal and inside a home, people want to talk; elsewhere they get help. */
function opensChat(argv: readonly string[]): boolean {
  const [option, dir, ...rest] = argv;
  const given = option?.startsWith('--home=') ? option.slice('--home='.length) : option === '--home' ? dir : undefined;
  const isBare =
    option === undefined || (given !== undefined && (option === '--home' ? rest : argv.slice(1)).length === 0);
  if (!isBare || !process.stdin.isTTY || !process.stdout.isTTY) return false;
  try {
    return locateHome(given, process.cwd(), process.env) !== '';
  } catch {
    return given !== undefined;
  }
}

/** argv → command → exit code. */
async function main(argv: readonly string[]): Promise<number> {
  let code: number = exit.done;
  const version = versionOf();
  const serve = (of: {home: string; once: boolean; json: boolean}) => serveHome(of.home, of.once, of.json, version);
  const program = buildCommands({version, source: packageRoot, self, serve}, result => {
    code = result;
  });
  try {
    const unknown = argv.includes('help')
      ? (await import('./surfaces/cli/usage-error.ts')).unknownHelp(program, argv)
      : undefined;
    if (unknown) throw unknown;
    await program.parseAsync(opensChat(argv) ? [...argv, 'chat'] : [...argv], {from: 'user'});
    return code;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exit.done;
    // Help, because no command was named.
    if (error instanceof CommanderError && error.code === 'commander.help') return exit.usage;
    const failure =
      error instanceof CommanderError
        ? (await import('./surfaces/cli/usage-error.ts')).usageError(program, argv, error)
        : ((await import('./home/write-failure.ts')).notAllowed(error) ?? error);
    if (!(failure instanceof UserError)) throw error;
    (await import('./surfaces/terminal/output.ts')).printError(failure, argv.includes('--json'));
    return failure.exitCode;
  }
}

/** A reader that has seen enough (agentdir tasks | head) is no error. What serves the home ends in order, and once. */
let whenUnread: () => void = () => process.exit(exit.done);

/** Output that cannot be written, because its disk is full, fails a command: nobody may take half a list for all of it. */
let whenUnwritable: (error: Error) => void = error => {
  throw error;
};

/** The whole program: src/launch.cts calls it. Loading this file does nothing. */
export async function run(): Promise<void> {
  let unread = false;
  const failed = (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') return whenUnwritable(error);
    if (unread) return;
    unread = true;
    whenUnread();
  };
  process.stdout.on('error', failed);
  process.stderr.on('error', failed);
  process.exitCode = await main(process.argv.slice(2));
}
