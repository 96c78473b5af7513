import type {ApprovalItem} from '../formats/approval/approval-item.ts';
import type {Problem} from '../formats/common/diagnostic.ts';
import {credentialProblems} from './credentials.ts';
import {type FileOf, type ParsedFile, parseFile} from './parse-file.ts';

export interface HomeText {
  /** Relative to the home, with "/". */
  path: string;
  text: string;
}

/** All files of a home, read and parsed. */
export interface Home {
  files: ParsedFile[];
  settings: FileOf<'settings'> | undefined;
  policy: FileOf<'policy'> | undefined;
  templates: FileOf<'template'>[];
  sessions: FileOf<'session'>[];
  tasks: FileOf<'tasks'>[];
  /** Items of the approval queue, and its archive. */
  queue: {path: string; item: ApprovalItem}[];
  approvals: FileOf<'approval'>[];
  playbooks: FileOf<'playbook'>[];
  workflows: FileOf<'workflow'>[];
  /** Possible credentials in any file. */
  credentials: Problem[];
  /** Files that are named and do not exist. */
  missing: Problem[];
  /** Why other files and folders could not be read. */
  unread: Problem[];
}

/** Pure. */
export function parseHome(texts: Iterable<HomeText>): Home {
  const files: ParsedFile[] = [];
  const credentials: Problem[] = [];
  for (const {path, text} of texts) {
    const file = parseFile(path, text);
    if (!file) continue;
    files.push(file);
    credentials.push(...credentialProblems(path, text));
  }
  const all = <K extends ParsedFile['kind']>(kind: K) => files.filter((file): file is FileOf<K> => file.kind === kind);
  return {
    files,
    settings: all('settings')[0],
    policy: all('policy')[0],
    templates: all('template'),
    sessions: all('session'),
    tasks: all('tasks'),
    queue: all('queue').flatMap(({path, file}) => file.items.map(item => ({path, item}))),
    approvals: all('approval'),
    playbooks: all('playbook'),
    workflows: all('workflow'),
    credentials,
    missing: [],
    unread: [],
  };
}
