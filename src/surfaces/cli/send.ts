import {mkdtempSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {shortTitle} from '../../check/need.ts';
import {exit, UserError} from '../../formats/common/errors.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import {fieldOf} from '../../formats/task/task.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {daemonOf} from '../../home/status.ts';
import type {Request} from '../actions/decide/queue.ts';
import {readApprovalRow} from '../actions/decide/row.ts';
import {answerText, errorOf, usageOf} from '../actions/talk/answer.ts';
import {agentName} from '../actions/talk/find-agent.ts';
import {readSession, sessionFile} from '../actions/talk/find-session.ts';
import {type ReplacedSecret, redactMessage} from '../actions/talk/redact-message.ts';
import {type SentMessage, writeMessage} from '../actions/talk/write-message.ts';
import {colors, complain, note, print, printJson} from '../terminal/output.ts';
import {plainScreen, streamingScreen} from './answer-screen.ts';
import {inEditor} from './editor.ts';
import {reportReplaced, stdinText} from './given-text.ts';
import {onTerminal} from './keys.ts';
import {type AnswerWait, type AnswerWaitResult, waitForAnswer} from './wait.ts';

export interface SendOptions {
  home: string;
  words: readonly string[];
  to: string | undefined;
  session: string | undefined;
  /** In a fresh session for this message alone. */
  task: boolean;
  wait: boolean;
  /** Stream even if stdout is not a terminal. */
  stream: boolean;
  timeoutMs: number | undefined;
  json: boolean;
}

export async function sendCommand(options: SendOptions): Promise<number> {
  const {home, words, to, session, task, wait, json} = options;
  if (task && session !== undefined)
    throw new UserError('--task and --session exclude each other', exit.usage, 'a task has a session of its own');
  const drafted = words.length === 0 && process.stdin.isTTY;
  const {content, replaced} = redactMessage(home, drafted ? draft(options) : givenText(words));
  const said = await writeMessage({home, content, session, agent: to, task}).catch((error: unknown) => {
    if (drafted) keepDraft(content);
    throw error;
  });
  reportReplaced(replaced);
  const extra = replaced.length > 0 ? {replaced} : {};
  const running = daemonOf(nodeDisk(home)) !== undefined;
  if (wait && running) return answer(options, said, extra);
  const {id, path, message} = said;
  if (json)
    printJson(
      wait
        ? {session: id, answer: null, usage: null, status: said.status, ...extra}
        : {session: id, path, message, ...extra},
    );
  else if (!wait) print(`${colors.green('sent')} to ${colors.bold(id)} ${colors.dim(path)}`);
  await tellStatus(home, said);
  if (!running) note('no daemon is running. To get an answer: agentdir start');
  else if (!json && said.status === 'active') note(`see the answer: agentdir peek --session ${id} -f`);
  return wait ? exit.daemon : exit.done;
}

function givenText(words: readonly string[]): string {
  const given = words.length === 0 || (words.length === 1 && words[0] === '-') ? stdinText() : words.join(' ');
  if (given.trim() === '') throw new UserError('there is nothing to send', exit.usage, 'agentdir send "Is Redis up?"');
  return given;
}

/** A message from the editor. As in a commit message of git, comment lines are left out, and an empty message ends the command. */
function draft({home, to: agent, session}: SendOptions): string {
  const to = session === undefined ? agentName(home, agent) : sessionFile(home, session).id;
  const comments = [
    `Message to ${visibleLine(to)} in ${visibleLine(home)}.`,
    'Lines that start with # are ignored. An empty message is not sent.',
  ];
  const text = inEditor(`\n${comments.map(line => `# ${line}\n`).join('')}`, 'MESSAGE.md');
  const lines = text.split(/\r?\n/).filter(line => !line.startsWith('#'));
  const content = lines.join('\n').trim();
  if (content === '') throw new UserError('the message is empty, so nothing was sent');
  return content;
}

/** Writing it took the person some time. */
function keepDraft(content: string): void {
  const path = join(mkdtempSync(join(tmpdir(), 'agentdir-unsent-')), 'MESSAGE.md');
  writeFileSync(path, `${content}\n`);
  note(`your message was not sent; it is kept in ${path}`);
}

/** Explains why the session does not answer yet. */
async function tellStatus(home: string, {id, path, status}: SentMessage): Promise<void> {
  if (status === 'paused') note(`${id} is paused. To continue: agentdir resume ${id}`);
  if (status !== 'waiting') return;
  const {openRequests, awaitedRequests} = await import('../actions/decide/waits-for.ts');
  const found = readSession(home, {id, path});
  const ids = found ? awaitedRequests(found.header, found.session.messages) : [];
  tellRequests(id, ids, openRequests(home, ids));
}

/** Lists pending requests with the commands to decide them. */
function tellRequests(id: string, ids: readonly string[], requests: readonly Request[]): void {
  const what = ids.length > 0 ? ` on ${ids.join(', ')}` : '';
  if (requests.length === 0) note(`${id} is waiting for your decision${what}: see NEEDS_YOU.md`);
  else note(`${id} is waiting for your approval:`);
  for (const {id: approval, task, type} of requests) {
    const risk = fieldOf(task, 'risk');
    note(`  ${approval}${risk ? ` (risk ${risk})` : ''}: ${shortTitle(task.title)}`);
    const yes = type === 'question' ? `agentdir approve ${approval} --answer TEXT` : `agentdir approve ${approval}`;
    note(`    details: agentdir approvals ${approval}; decide: ${yes}, or agentdir reject ${approval}`);
  }
}

async function answer(
  {home, stream, timeoutMs, json}: SendOptions,
  said: SentMessage,
  extra: {replaced?: ReplacedSecret[]},
): Promise<number> {
  const {stdout} = process;
  const write = (text: string) => void stdout.write(text);
  const size = () => (stdout.isTTY ? {columns: stdout.columns || 80, rows: stdout.rows || 24} : undefined);
  const screen = !json && stream ? streamingScreen({write, size}) : plainScreen(json ? () => {} : write);
  const stopTelling = tellOnInterrupt(said);
  const waited = await waitWithPerson(
    {
      home,
      file: said,
      asked: {message: said.message, segments: said.segments},
      screen,
      timeoutMs,
      ...(!json && {tell: note}),
    },
    !json && onTerminal(),
  ).finally(stopTelling);
  const {over, replies, header, requests} = waited;
  const text = over === 'answered' ? answerText(replies) : undefined;
  screen.finish(text);
  if (json)
    printJson({
      session: said.id,
      answer: text ?? null,
      usage: usageOf(replies),
      status: header?.status ?? said.status,
      ...(requests.length > 0 && {approvals: requests.map(request => readApprovalRow(home, request))}),
      ...extra,
    });
  return outcome(home, said, waited);
}

/** Waits for the answer; on a terminal, asks about requests in place and goes on. */
export async function waitWithPerson(wait: AnswerWait, isTerminal: boolean): Promise<AnswerWaitResult> {
  const skipped = new Set<string>();
  let isDecided = false;
  for (let given = 0; ; ) {
    const waited = await waitForAnswer({...wait, given, isDecided});
    given = waited.replies.length;
    const [request, ...others] = waited.over === 'waiting' ? waited.requests.filter(({id}) => !skipped.has(id)) : [];
    if (!isTerminal || !request) return waited;
    const {askAbout} = await import('./ask-each.ts');
    const options = {
      ...{home: wait.home, ids: [], edit: false, always: false, sign: false, key: undefined, answer: undefined},
      ...{json: false, wait: false, timeoutMs: undefined},
    };
    const done = await askAbout(options, request, others.length);
    if (done === 'quit') return waited;
    if (done === 'skip') skipped.add(request.id);
    else isDecided = true;
  }
}

/** On Ctrl-C the command ends as usual, but says that the agent does not. Returns a function that takes this back. */
function tellOnInterrupt({id}: SentMessage): () => void {
  const tell = () => {
    // The terminal shows ^C in the line of the answer.
    if (process.stderr.isTTY) process.stderr.write('\n');
    note(`${id} keeps working; see its answer with: agentdir peek --session ${id}`);
    note(`to cancel the turn: agentdir cancel ${id}`);
    process.kill(process.pid, 'SIGINT');
  };
  process.once('SIGINT', tell);
  return () => process.off('SIGINT', tell);
}

/** Reports the outcome and returns the exit code. */
async function outcome(home: string, said: SentMessage, {over, header, requests}: AnswerWaitResult): Promise<number> {
  const {id, path, status} = said;
  switch (over) {
    case 'answered':
      return exit.done;
    case 'waiting':
      if (requests.length > 0) tellRequests(id, [], requests);
      else await tellStatus(home, {...said, status: 'waiting'});
      return exit.waiting;
    case 'paused':
      await tellStatus(home, {...said, status: 'paused'});
      return exit.waiting;
    case 'stopped': {
      const agent = visibleLine(header?.agent_id ?? '');
      note(`${agent} is stopped, so it answers later. To let it work: agentdir agents start ${agent}`);
      return exit.waiting;
    }
    case 'error':
      complain(
        `${id} is in error: ${header ? errorOf(header) : status}`,
        `fix the cause, then ask again: agentdir send TEXT --session ${id}, or set "status: active" in ${path}`,
      );
      return exit.failed;
    case 'unanswered':
      complain(`${id} was completed before it answered`);
      return exit.failed;
    case 'removed':
      complain(`the message is no longer in ${path}`, 'see agentdir log');
      return exit.failed;
    case 'left':
    case 'timeout':
      complain('no answer yet', `the agent is still working: agentdir peek --session ${id} -f`);
      return exit.failed;
    case 'no-daemon':
      complain('the daemon stopped before the answer came', 'start it again: agentdir start');
      return exit.daemon;
  }
}
