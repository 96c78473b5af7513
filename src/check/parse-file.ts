import {type AllowlistFile, parseAllowlist} from '../formats/allowlist.ts';
import {type ApprovalFile, parseApproval} from '../formats/approval/approval.ts';
import {
  APPROVALS_FILE,
  type ApprovalItem,
  queueProblems,
  readApprovalItems,
} from '../formats/approval/approval-item.ts';
import {type ChannelFile, parseChannel} from '../formats/channel.ts';
import {HOLDS_FILE, type Kind, kindOf, SLOTS_FILE, stemOf} from '../formats/common/key.ts';
import {type CursorFile, inboxOf, parseCursor} from '../formats/cursor-file.ts';
import {type HoldsFile, parseHolds} from '../formats/holds-file.ts';
import {type InboxText, parseInbox} from '../formats/inbox.ts';
import {type PlaybookFile, parsePlaybook} from '../formats/playbook.ts';
import {parseRejected, type RejectedFile} from '../formats/rejected.ts';
import {parseRun, type RunFile} from '../formats/run.ts';
import {parseSession, type Session} from '../formats/session/session.ts';
import {SPEND_FILE} from '../formats/session/spent.ts';
import {parseSettings, type SettingsFile} from '../formats/settings.ts';
import {parseSlots, type SlotsFile} from '../formats/slots-file.ts';
import {parseSpend, type SpendFile} from '../formats/spend-file.ts';
import type {TaskFile} from '../formats/task/task.ts';
import {parseTasks} from '../formats/task/task-parse.ts';
import {parseTemplate, type TemplateFile} from '../formats/template.ts';
import {parseMarkdownTemplate} from '../formats/template-markdown.ts';
import {parseWorkflow, type WorkflowFile} from '../formats/workflow.ts';

/** The parsed form of each kind of file. The approval queue is a task file whose items are approvals. */
interface Parsed {
  settings: SettingsFile;
  policy: AllowlistFile;
  template: TemplateFile;
  session: Session;
  /** Not parsed: free text, which stands for older messages of a session. */
  checkpoint: undefined;
  tasks: TaskFile;
  queue: TaskFile & {items: readonly ApprovalItem[]};
  approval: ApprovalFile;
  inbox: InboxText;
  rejected: RejectedFile;
  playbook: PlaybookFile;
  workflow: WorkflowFile;
  run: RunFile;
  channel: ChannelFile;
  /** Not parsed: free text. */
  document: undefined;
  /** Not parsed: only agents and people read it. */
  memory: undefined;
  /** Parsed only for state/spend.yaml. */
  state: SpendFile | undefined;
  cursor: CursorFile;
  slots: SlotsFile;
  holds: HoldsFile;
  conflict: undefined;
}

/** A file of the home with its parsed content. */
export type ParsedFile = {[K in keyof Parsed]: {kind: K; path: string; file: Parsed[K]}}[keyof Parsed];
export type FileOf<K extends keyof Parsed> = Extract<ParsedFile, {kind: K}>;

/** The approval queue or its archive: its items are approvals, not tasks. */
export function isQueue(path: string): boolean {
  return path === APPROVALS_FILE || path.startsWith('tasks/archive/approvals-');
}

/** Pure, and must not throw. Undefined: not a known kind of file. `previous`: an earlier version of the same file. */
export function parseFile(path: string, text: string, previous?: ParsedFile): ParsedFile | undefined {
  const kind = kindOf(path);
  if (kind === 'session')
    return {kind, path, file: parseSession(text, previous?.kind === 'session' ? previous.file : undefined)};
  return kind && readers[kind](path, text);
}

const readers: {[K in Kind]: (path: string, text: string) => ParsedFile} = {
  settings: (path, text) => ({kind: 'settings', path, file: parseSettings(text)}),
  policy: (path, text) => ({kind: 'policy', path, file: parseAllowlist(text)}),
  template: (path, text) => ({
    kind: 'template',
    path,
    file: path.endsWith('.md') ? parseMarkdownTemplate(text, stemOf(path)) : parseTemplate(text, stemOf(path)),
  }),
  session: (path, text) => ({kind: 'session', path, file: parseSession(text)}),
  checkpoint: path => ({kind: 'checkpoint', path, file: undefined}),
  tasks(path, text) {
    const file = parseTasks(text);
    if (!isQueue(path)) return {kind: 'tasks', path, file};
    const {items, problems} = readApprovalItems(file);
    return {kind: 'queue', path, file: {...file, items, problems: [...queueProblems(file.problems), ...problems]}};
  },
  approval: (path, text) => ({kind: 'approval', path, file: parseApproval(text)}),
  inbox: (path, text) => ({kind: 'inbox', path, file: parseInbox(text)}),
  rejected: (path, text) => ({kind: 'rejected', path, file: parseRejected(text)}),
  playbook: (path, text) => ({kind: 'playbook', path, file: parsePlaybook(text)}),
  workflow: (path, text) => ({kind: 'workflow', path, file: parseWorkflow(text)}),
  run: (path, text) => ({kind: 'run', path, file: parseRun(text)}),
  channel: (path, text) => ({kind: 'channel', path, file: parseChannel(text)}),
  document: path => ({kind: 'document', path, file: undefined}),
  memory: path => ({kind: 'memory', path, file: undefined}),
  state(path, text) {
    if (inboxOf(path) !== undefined) return {kind: 'cursor', path, file: parseCursor(text)};
    if (path === SLOTS_FILE) return {kind: 'slots', path, file: parseSlots(text)};
    if (path === HOLDS_FILE) return {kind: 'holds', path, file: parseHolds(text)};
    return {kind: 'state', path, file: path === SPEND_FILE ? parseSpend(text) : undefined};
  },
  conflict: path => ({kind: 'conflict', path, file: undefined}),
};
