import {mayReachOut} from '../../policy/may-reach-out.ts';
import {commandLimits} from '../sandbox/limits.ts';
import {type Program, type RunResult, runPrograms} from '../sandbox/run.ts';
import {isFailure} from '../tool/failure.ts';
import type {Arguments, JudgingTool, ResultCode, ToolContext, ToolFailure, ToolResult} from '../tool/tool.ts';
import {
  type ChangedFile,
  changesBetween,
  type Snapshot,
  snapshot,
  UNTRUSTED_FOLDER,
} from '../workspace/changed-files.ts';
import {closeFolder, openFolder} from '../workspace/folder.ts';
import {makeToolPath} from '../workspace/place.ts';
import {askAboutCommand} from './command-ask.ts';
import {CommandOutput} from './command-output.ts';
import {type CommandPlan, planCommand, secondsOf, whereOf} from './command-plan.ts';
import {hasUntrusted, mayReadUntrusted, namesUntrusted} from './untrusted-output.ts';

const MOST_OUTPUT = 64 * 1024 * 1024;
const MOST_CHANGES = 100;

export const executeCommandTool: JudgingTool<'execute_command'> = {
  prepare: async (args, policy, context) => {
    const plan = await planCommand(args, policy, context);
    const programs = plan.verdict === 'ask' ? plan.approved : plan.programs;
    return {
      leaves: leavesBy(plan, plan.verdict === 'ask'),
      readOnly: plan.verdict === 'allow' && plan.readOnly && programs.every(({confined}) => confined),
      unconfined: programs.some(({confined}) => !confined),
      verdict: plan.verdict,
      reason: plan.reasons.join('; '),
      // Allowed commands run as the words that were judged, even if a person was asked for another reason.
      execute: () => execute(args, plan, programs, context),
      ask: () => askAboutCommand(args, plan, policy, context),
    };
  },
};

/** Programs that a plan runs, as far as known; for an ambiguous line also the shell that reads it. */
function runningOf({judgement, programs, approved: [line]}: CommandPlan, approved: boolean): readonly Program[] {
  if (!approved || !line) return programs;
  // Bash runs exactly these commands, unless the line is ambiguous.
  const known = programs.map(({argv}) => ({...line, argv}));
  return judgement.doubts.length > 0 || known.length === 0 ? [...known, line] : known;
}

/** Why the programs may reach other machines; undefined if they do not. */
function leavesBy(plan: CommandPlan, approved: boolean): string | undefined {
  for (const {argv, confined, network} of runningOf(plan, approved)) {
    // A rule that grants network access implies that the command needs it, with or without a sandbox.
    if (network) return `${argv[0]} runs with network access`;
    const reaches = confined ? undefined : mayReachOut(argv);
    if (reaches !== undefined) return reaches;
  }
  return undefined;
}

async function execute(
  {command, timeout_seconds}: Arguments<'execute_command'>,
  plan: CommandPlan,
  programs: readonly Program[],
  context: ToolContext,
): Promise<ToolResult> {
  const {home, workspace, signal, onStarted} = context;
  // Create the workspace on first use; fail if it is not a folder inside the home.
  const folder = openFolder(context, makeToolPath('workspace', []));
  if (isFailure(folder)) return folder;
  closeFolder(folder);

  const readOnly = plan.readOnly && programs === plan.programs && programs.every(({confined}) => confined);
  const before = readOnly ? undefined : await snapshot(context, signal);
  const seconds = secondsOf(timeout_seconds, context);
  // Answers of other machines are untrusted, and so are saved copies of them.
  const running = runningOf(plan, programs === plan.approved);
  const named = namesUntrusted(
    command,
    running.flatMap(({argv}) => argv),
  );
  const reads = named || running.some(program => mayReadUntrusted(program, workspace));
  const kept = hasUntrusted(workspace);
  const untrusted = leavesBy(plan, programs === plan.approved) !== undefined || (reads && kept);
  const streams = {
    stdout: new CommandOutput(context, 'stdout', {untrusted}),
    stderr: new CommandOutput(context, 'stderr', {untrusted}),
  };
  const ran = await runPrograms({
    programs,
    home,
    workspace,
    readOnly,
    hidden: named ? undefined : UNTRUSTED_FOLDER,
    ownGit: context.ownGit,
    mark: context.mark,
    limits: context.limits,
    timeoutMs: seconds * 1000,
    mostOutput: MOST_OUTPUT,
    signal,
    onOutput: (stream, chunk) => streams[stream].add(chunk),
    onStarted,
  });
  if (!ran.survived) context.onEnded();
  const stdout = streams.stdout.end();
  const stderr = streams.stderr.end();
  const shown = {
    ...(ran.exitCode !== null && {exit_code: ran.exitCode}),
    ...(ran.signal !== null && {signal: ran.signal}),
    stdout: stdout.text,
    stderr: stderr.text,
    duration_ms: Math.round(ran.ms),
    ran: whereOf(programs),
    ...(ran.exceeded && {exceeded: ran.exceeded}),
    ...(readOnly ? {changed_files: []} : await changedFiles(context, before)),
    ...(stdout.file && {stdout_file: stdout.file}),
    ...(stderr.file && {stderr_file: stderr.file}),
  };
  const failure = failureOf(ran, seconds, context);
  const lacked = failure?.code === 'FAILED' ? lackedBy(programs, `${stderr.text}\n${stdout.text}`) : undefined;
  const failed = failure && lacked ? {...failure, error: `${failure.error}; ${lacked}`} : failure;
  // Untrusted files that appeared while it ran were not hidden from it.
  const came = (reads || !kept) && hasUntrusted(workspace);
  const from = untrusted || came ? {untrusted: true} : {};
  return failed ? {...failed, ...shown, ...from} : {success: true, ...shown, ...from};
}

const NO_NETWORK =
  /could not resolve|temporary failure in name resolution|name or service not known|network is unreachable|no route to host|EAI_AGAIN|ENOTFOUND|ENETUNREACH|failed to establish a new connection|dial tcp|connection refused|couldn't connect|failed to connect/i;
const NO_HOST =
  /read-only file system|EROFS|docker daemon|\/var\/run\/\S+\.sock|system has not been booted with systemd/i;

/** What the sandbox kept from programs that failed, as far as their words show, and how to ask for it. */
function lackedBy(programs: readonly Program[], output: string): string | undefined {
  const confined = programs.filter(program => program.confined);
  if (confined.some(({network}) => !network) && NO_NETWORK.test(output))
    return 'it ran in the sandbox without network, and seems to need it: call again with network: true and a reason, or a person approves it with the line "network: true"';
  if (confined.length > 0 && /\.workspaces\/[^\n]*read-only file system/i.test(output))
    return 'the history of the workspace is kept by Agentdir, one commit for each call; only an agent whose template has workspace: {git: own} commits by itself';
  if (confined.length > 0 && NO_HOST.test(output))
    return 'it ran in the sandbox, which can write only the workspace, and seems to need more of this machine: call again with sandbox: host and a reason, or a person approves it with the line "sandbox: host"';
  return undefined;
}

function failureOf(ran: RunResult, seconds: number, context: ToolContext): ToolFailure | undefined {
  const failed = (code: ResultCode, error: string): ToolFailure => ({success: false, error, code});
  switch (ran.how) {
    case 'timeout':
      return failed('TIMEOUT', `it was still running after ${seconds} s and was ended, with all it had started`);
    case 'stopped':
      return failed('INTERRUPTED', `it was ended before it was done: ${reasonOf(context.signal)}`);
    case 'output':
      return failed('FAILED', `it printed more than ${MOST_OUTPUT / 1024 / 1024} MB and was ended`);
    case 'disk':
      return failed('FAILED', `it filled the disk and was ended: ${diskLimit(context)}`);
    case 'failed':
      return failed('FAILED', `it could not be started: ${ran.error ?? 'the system refused'}`);
    case 'ended':
      if (ran.exitCode === 0) return undefined;
      return failed(
        'FAILED',
        [ran.signal ? `it was ended by ${ran.signal}` : `exit code ${ran.exitCode}`, ...(ran.exceeded ?? [])].join(
          '; ',
        ),
      );
  }
}

function diskLimit({limits = commandLimits()}: ToolContext): string {
  const megabytes = Math.round(limits.diskBytes / 1024 / 1024);
  return `at most ${megabytes} MB (limits.commands.disk_mb), and nine tenths of the free space`;
}

function reasonOf(signal: AbortSignal): string {
  return signal.reason instanceof Error && signal.reason.name !== 'AbortError' ? signal.reason.message : 'stopped';
}

async function changedFiles(
  context: ToolContext,
  before: Snapshot | undefined,
): Promise<{changed_files?: ChangedFile[]; changed_count?: number; note?: string}> {
  const after = before && (await snapshot(context, new AbortController().signal, true));
  if (!before || !after) return {note: 'the workspace has too many files to tell which were changed'};
  const changes = changesBetween(before.files, after.files);
  const {dropped} = after;
  return {
    changed_files: changes.slice(0, MOST_CHANGES),
    ...(changes.length > MOST_CHANGES && {changed_count: changes.length}),
    ...(dropped.length > 0 && {note: `set-user-id bits were taken off ${dropped.slice(0, 10).join(', ')}`}),
  };
}
