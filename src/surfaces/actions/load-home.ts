import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {credentialProblems} from '../../check/credentials.ts';
import {unreadFacts} from '../../check/facts.ts';
import {type Home, parseHome} from '../../check/home.ts';
import {HomeIndex} from '../../check/home-index.ts';
import {factsOf} from '../../check/read-facts.ts';
import {inFile, type Problem, problem} from '../../formats/common/diagnostic.ts';
import {kindOf} from '../../formats/common/key.ts';
import {parseWorkflow} from '../../formats/workflow.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {inboxState} from '../../home/inbox-state.ts';
import {isInRepository, MARKER} from '../../home/locate.ts';
import {listHome, readHomeFile} from '../../home/read.ts';
import {promptFile, promptProblems} from './workflows/prompts.ts';

interface HomeTexts {
  texts: ReadonlyMap<string, string>;
  /** Why other files and folders could not be read. */
  unread: Problem[];
}

export type LoadProgress = (done: number, total: number) => void;

/** Read all files of a home, or of some of its folders, as they are on disk now. */
function readHome(dir: string, folders?: readonly string[]): HomeTexts {
  const texts = new Map<string, string>();
  const {paths, problems: unread} = listHome(nodeDisk(dir), folders);
  for (const path of paths) {
    const read = readHomeFile(nodeDisk(dir), path);
    // Check only unread lines of an inbox.
    if (read?.bytes && kindOf(path) === 'inbox') texts.set(path, unreadText(dir, path, read.bytes));
    else if (read && 'text' in read) texts.set(path, read.text);
    else if (read) unread.push(read.problem);
  }
  if (!folders && texts.has(MARKER) && !isInRepository(dir)) unread.push(noRepository());
  return {texts, unread};
}

function noRepository(): Problem {
  const message = 'expected the home in a git repository, found none; the daemon does not start';
  return problem(
    'NO_REPOSITORY',
    {line: 1, column: 1},
    message,
    'restore .git, or make a new one: agentdir init .',
    '.git',
  );
}

/** Blanks out the lines that are already read. */
function unreadText(dir: string, path: string, bytes: Buffer): string {
  const {lines, unread} = inboxState(dir, path) ?? {lines: 0, unread: bytes.length};
  if (unread >= bytes.length) return bytes.toString();
  return '\n'.repeat(lines) + bytes.subarray(bytes.length - unread).toString();
}

/** Loads and checks the home; keeps only facts of each file. */
export function indexHome(
  dir: string,
  progress: LoadProgress = () => {},
  folders?: readonly string[],
): {index: HomeIndex; texts: ReadonlyMap<string, string>} {
  const {texts: read, unread} = readHome(dir, folders);
  const texts = folders ? new Map([...read].filter(([path]) => path.includes('/'))) : read;
  const index = new HomeIndex();
  let done = 0;
  for (const [path, text] of texts) {
    const missing = missingPrompts(dir, path, text);
    const facts = factsOf(path, text);
    index.set(path, missing.length > 0 ? {...facts, problems: [...facts.problems, ...missing]} : facts);
    progress(++done, texts.size);
  }
  for (const problem of unread) index.set(problem.file, unreadFacts(problem.file, [problem]));
  index.settle();
  return {index, texts};
}

/** Possible credentials in the files of a home: the daemon does not look for them, because it would read every change as a whole. */
export function credentialsIn(dir: string): Problem[] {
  return [...readHome(dir).texts].flatMap(([path, text]) => (kindOf(path) ? credentialProblems(path, text) : []));
}

export interface LoadedHome {
  home: Home;
  texts: ReadonlyMap<string, string>;
}

/** Loads and parses some folders, and agentdir.yaml if it is among them. */
export function loadHome(dir: string, folders?: readonly string[]): LoadedHome {
  const {texts, unread} = readHome(
    dir,
    folders?.filter(folder => kindOf(folder) === undefined),
  );
  const wanted = [...texts].filter(([path]) => !folders || path.includes('/') || folders.includes(path));
  const missing = wanted.flatMap(([path, text]) => missingPrompts(dir, path, text));
  return {home: {...parseHome(wanted.map(([path, text]) => ({path, text}))), missing, unread}, texts};
}

/** Prompt files that a workflow names and that do not exist. */
function missingPrompts(dir: string, path: string, text: string): Problem[] {
  if (kindOf(path) !== 'workflow') return [];
  const exists = (prompt: string) => existsSync(promptFile(dir, join(dir, path), prompt));
  return inFile(path, promptProblems(parseWorkflow(text), exists));
}
