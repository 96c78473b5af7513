import {type AllowlistFile, parseAllowlist} from '../files/allowlist.ts';
import {type ApprovalFile, parseApproval} from '../files/approval.ts';
import {APPROVALS_FILE, type ApprovalItem, readApprovalItems} from '../files/approval-item.ts';
import {parseChannel} from '../files/channel.ts';
import {inFile, type Problem} from '../files/diagnostic.ts';
import {parseInbox} from '../files/inbox.ts';
import {type Kind, kindOf, stemOf} from '../files/key.ts';
import {type PlaybookFile, parsePlaybook} from '../files/playbook.ts';
import {parseSession, type Session} from '../files/session.ts';
import {parseSettings, type SettingsFile} from '../files/settings.ts';
import type {TaskFile} from '../files/task.ts';
import {parseTasks} from '../files/task-parse.ts';
import {parseTemplate, type TemplateFile} from '../files/template.ts';
import {parseMarkdownTemplate} from '../files/template-markdown.ts';
import {parseWorkflow, type WorkflowFile} from '../files/workflow.ts';

export interface HomeText {
  /** Relative to the home, with "/". */
  path: string;
  text: string;
}

interface At<T> {
  path: string;
  file: T;
}

/** All files of a home, read and parsed, with what is wrong with each on its own. */
export interface Home {
  settings: At<SettingsFile> | undefined;
  policy: At<AllowlistFile> | undefined;
  templates: At<TemplateFile>[];
  sessions: At<Session>[];
  tasks: At<TaskFile>[];
  /** Items of the approval queue, and its archive. */
  queue: {path: string; item: ApprovalItem}[];
  approvals: At<ApprovalFile>[];
  playbooks: At<PlaybookFile>[];
  workflows: At<WorkflowFile>[];
  problems: Problem[];
}

/** Pure. */
export function parseHome(texts: Iterable<HomeText>): Home {
  const home: Home = {
    settings: undefined,
    policy: undefined,
    templates: [],
    sessions: [],
    tasks: [],
    queue: [],
    approvals: [],
    playbooks: [],
    workflows: [],
    problems: [],
  };
  for (const {path, text} of texts) {
    const kind = kindOf(path);
    if (kind) home.problems.push(...inFile(path, readers[kind](home, path, text)));
  }
  return home;
}

/** Each kind: put the parsed file into the home, and return its problems. */
const readers: Record<Kind, (home: Home, path: string, text: string) => Problem[]> = {
  settings(home, path, text) {
    home.settings = {path, file: parseSettings(text)};
    return home.settings.file.problems;
  },
  policy(home, path, text) {
    home.policy = {path, file: parseAllowlist(text)};
    return home.policy.file.problems;
  },
  template: (home, path, text) =>
    keep(
      home.templates,
      path,
      path.endsWith('.md') ? parseMarkdownTemplate(text, stemOf(path)) : parseTemplate(text, stemOf(path)),
    ),
  session: (home, path, text) => keep(home.sessions, path, parseSession(text)),
  tasks(home, path, text) {
    const file = parseTasks(text);
    if (!isQueue(path)) return keep(home.tasks, path, file);
    const {items, problems} = readApprovalItems(file);
    home.queue.push(...items.map(item => ({path, item})));
    return [...file.problems, ...problems];
  },
  approval: (home, path, text) => keep(home.approvals, path, parseApproval(text)),
  inbox: (_home, _path, text) => parseInbox(text).problems,
  playbook: (home, path, text) => keep(home.playbooks, path, parsePlaybook(text)),
  workflow: (home, path, text) => keep(home.workflows, path, parseWorkflow(text)),
  channel: (_home, _path, text) => parseChannel(text).problems,
  memory: () => [],
  state: () => [],
  conflict: () => [],
};

/** The approval queue or its archive: its items are approvals, not tasks. */
export function isQueue(path: string): boolean {
  return path === APPROVALS_FILE || path.startsWith('tasks/archive/approvals-');
}

function keep<T extends {problems: Problem[]}>(list: At<T>[], path: string, file: T): Problem[] {
  list.push({path, file});
  return file.problems;
}
