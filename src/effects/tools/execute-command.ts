import {kindOf} from '../../policy/command-name.ts';
import {shellOnly} from '../../policy/wrapper-table.ts';
import {type Program, type Ran, run} from '../sandbox/run.ts';
import {type ChangedFile, changesBetween, type Snapshot, snapshot} from '../workspace/changed-files.ts';
import {closeFolder, openFolder} from '../workspace/folder.ts';
import {place} from '../workspace/place.ts';
import {CommandOutput} from './command-output.ts';
import {type CommandPlan, planCommand} from './command-plan.ts';
import {isFailure} from './failure.ts';
import type {Arguments, JudgingTool, ResultCode, ToolContext, ToolFailure, ToolResult} from './tool.ts';

const DEFAULT_SECONDS = 120;
const MOST_SECONDS = 3600;
const MOST_OUTPUT = 64 * 1024 * 1024;
const MOST_CHANGES = 100;

export const executeCommand: JudgingTool<'execute_command'> = {
  prepare: async (args, policy, context) => {
    const plan = await planCommand(args, policy, context);
    return {
      verdict: plan.verdict,
      reason: plan.reasons.join('; '),
      remedy: remedyFor(plan),
      execute: approved => execute(args, plan, approved ? plan.approved : plan.programs, context),
      preview: () => preview(args, plan),
    };
  },
};

/** What to write instead, where no rule of any person's could allow the line. */
const instead: readonly (readonly [RegExp, string])[] = [
  [/redirects|here-document/, 'write_file or create_file instead of a redirect'],
  [/glob|brace/, 'the names themselves (the tool glob finds them) instead of * ? {}'],
  [/\$|backtick|~|sets a variable/, 'values spelled out instead of $, backticks and ~'],
  [
    /compound|background|coprocess|uses !|uses time|more than one line|comment|\btab\b|backslash/,
    'one plain command a call',
  ],
];

function remedyFor({judgement: {doubts, segments}}: CommandPlan): string {
  const hints = instead.filter(([what]) => doubts.some(doubt => what.test(doubt))).map(([, hint]) => hint);
  const ofShell = segments.map(({argv}) => argv[0] ?? '').find(name => shellOnly.has(kindOf(name)));
  if (ofShell !== undefined) hints.push(`paths from the workspace, where every command starts, instead of ${ofShell}`);
  if (doubts.length === 0 && ofShell === undefined)
    return 'a person can allow it by a rule under commands: in allowlist.yaml';
  return `no rule can allow this as it is written: use ${hints.length > 0 ? hints.join('; ') : 'plain ASCII words'}`;
}

async function execute(
  {timeout_seconds}: Arguments<'execute_command'>,
  plan: CommandPlan,
  programs: readonly Program[],
  context: ToolContext,
): Promise<ToolResult> {
  const {home, workspace, signal, onStarted} = context;
  // Made on first need, and refused if it is not a folder of the home's own.
  const folder = openFolder(context, place('workspace', []));
  if (isFailure(folder)) return folder;
  closeFolder(folder);

  const readOnly = plan.readOnly && programs === plan.programs && programs.every(({confined}) => confined);
  const before = readOnly ? undefined : await snapshot(context, signal);
  const limit = (context.timeoutMs ?? MOST_SECONDS * 1000) / 1000;
  const seconds = Math.min(timeout_seconds ?? DEFAULT_SECONDS, limit);
  const streams = {stdout: new CommandOutput(context, 'stdout'), stderr: new CommandOutput(context, 'stderr')};
  const ran = await run({
    programs,
    home,
    workspace,
    readOnly,
    mark: context.mark,
    timeoutMs: seconds * 1000,
    mostOutput: MOST_OUTPUT,
    signal,
    onOutput: (stream, chunk) => streams[stream].add(chunk),
    onStarted,
  });
  const stdout = streams.stdout.end();
  const stderr = streams.stderr.end();
  const shown = {
    ...(ran.exitCode !== null && {exit_code: ran.exitCode}),
    ...(ran.signal !== null && {signal: ran.signal}),
    stdout: stdout.text,
    stderr: stderr.text,
    duration_ms: Math.round(ran.ms),
    ran: whereOf(programs),
    ...(readOnly ? {changed_files: []} : await changedFiles(context, before)),
    ...(stdout.file && {stdout_file: stdout.file}),
    ...(stderr.file && {stderr_file: stderr.file}),
  };
  const failed = failureOf(ran, seconds, context);
  return failed ? {...failed, ...shown} : {success: true, ...shown};
}

function failureOf(ran: Ran, seconds: number, {signal}: ToolContext): ToolFailure | undefined {
  const failed = (code: ResultCode, error: string): ToolFailure => ({success: false, error, code});
  switch (ran.how) {
    case 'timeout':
      return failed('TIMEOUT', `it was still running after ${seconds} s and was ended, with all it had started`);
    case 'stopped':
      return failed('INTERRUPTED', `it was ended before it was done: ${reasonOf(signal)}`);
    case 'output':
      return failed('FAILED', `it printed more than ${MOST_OUTPUT / 1024 / 1024} MB and was ended`);
    case 'failed':
      return failed('FAILED', `it could not be started: ${ran.error ?? 'the system refused'}`);
    case 'ended':
      if (ran.exitCode === 0) return undefined;
      return failed('FAILED', ran.signal ? `it was ended by ${ran.signal}` : `exit code ${ran.exitCode}`);
  }
}

function reasonOf(signal: AbortSignal): string {
  return signal.reason instanceof Error && signal.reason.name !== 'AbortError' ? signal.reason.message : 'stopped';
}

function whereOf(programs: readonly Program[]): string {
  const places = new Set(
    programs.map(
      ({confined, network}) => `${confined ? 'sandbox' : 'host'}${confined && network ? ' with network' : ''}`,
    ),
  );
  return [...places].join(', ');
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

function preview({command, reason, network, sandbox}: Arguments<'execute_command'>, plan: CommandPlan): string {
  const asks = [sandbox === 'host' && 'to run on the host', network && 'network access'].filter(Boolean).join(', ');
  const runs = plan.verdict === 'ask' ? `once approved, runs in bash ${plan.whereApproved}` : `runs ${plan.where}`;
  return [
    command,
    '',
    ...(reason ? [`reason: ${reason}`] : []),
    `${runs}${asks ? `; it asks for: ${asks}` : ''}`,
    `risk: ${plan.risk.level}: ${plan.risk.factors.join('; ')}`,
    `verdict: ${plan.verdict}: ${plan.reasons.join('; ')}`,
    ...plan.judgement.segments.map(
      segment => `  ${segment.verdict} ${segment.argv.map(word => JSON.stringify(word)).join(' ')}: ${segment.reason}`,
    ),
  ].join('\n');
}
