import {setReview} from '../../src/formats/approval/approval-edit.ts';
import {APPROVALS_FILE, readApprovalItems} from '../../src/formats/approval/approval-item.ts';
import {updateTask} from '../../src/formats/task/task-edit.ts';
import {parseTasks} from '../../src/formats/task/task-parse.ts';
import type {Disk} from '../../src/home/disk/disk.ts';
import {blobId} from '../../src/home/git/blob-id.ts';
import type {SimulatedGit} from './git.ts';
import {LogWriter} from './log-writer.ts';
import {SeededRandom} from './random.ts';
import type {SaveMode, Step} from './steps.ts';
import type {SimulatedTime} from './time.ts';

/** Files that the person edits: a step names one by its place. */
export const FILES = [
  'memory/notes.md',
  'tasks/work.task.md',
  'sessions/s0.session.yaml',
  'sessions/s1.session.yaml',
  'sessions/s2.session.yaml',
] as const;
const [NOTES, TASKS] = FILES;
const INBOX = 'inbox/mail.jsonl';

/** Every line that the person writes has a word of its own, `w17`; those in inboxes `i17`. */
const WORD = /\b[wi]\d+\b/g;
const wordsIn = (text: string): Set<string> => new Set(text.match(WORD));

/** A file that is open in an editor. */
interface OpenText {
  path: string;
  text: string;
}

/** A person with an editor, a shell and git. Remembers what must not be lost. */
export class Person {
  /** Words that were saved, and where. */
  readonly written = new Map<string, string>();
  /** Words that the person took out again, or wrote over before anybody could see them. */
  readonly removed = new Set<string>();
  /** What was decided, by command. */
  readonly decisions = new Map<string, Set<'approve' | 'reject'>>();
  /** Ids of approved requests, by command. */
  readonly approved = new Map<string, Set<string>>();
  readonly #log: LogWriter;
  readonly #disk: Disk;
  readonly #git: SimulatedGit;
  readonly #time: SimulatedTime;
  readonly #buffers = new Map<string, OpenText>();
  readonly #blobWords = new Map<string, Set<string>>();
  #deleted: OpenText | undefined;
  #count = 0;
  /** Another one after each power cut: what was being saved then is never finished. */
  #life = 0;
  readonly #saving = new Set<string>();
  /** After a power cut the person looks at the home when a daemon serves it again: until then files may be damaged. */
  #isAway = false;
  #isInboxTorn = false;

  constructor(disk: Disk, git: SimulatedGit, time: SimulatedTime) {
    this.#disk = disk;
    this.#git = git;
    this.#time = time;
    this.#log = new LogWriter(disk, time, this);
  }

  /** The machine lost its power: editors are gone, and so is what they had open. */
  losePower(): void {
    this.#life++;
    this.#isAway = true;
    this.#isInboxTorn ||= this.#saving.has(INBOX);
    this.#saving.clear();
    this.#buffers.clear();
  }

  comeBack(): void {
    this.#isAway = false;
  }

  /** What came of it, in a few words. */
  do(step: Step): string {
    if (this.#isAway && !['inbox', 'log', 'touch log', 'rotate'].includes(step.do)) return 'the person is away';
    const random = new SeededRandom(step.seed);
    switch (step.do) {
      case 'say': {
        const path = FILES[2 + step.session] ?? FILES[2];
        const line = `  - role: user\n    content: "${this.#word()} do:${step.wish}"\n`;
        const before = this.#read(path);
        if (before === undefined) return this.#save(path, '', `agent_id: worker\nmessages:\n${line}`, 'rename', random);
        return this.#save(path, before, before + line, step.mode, random);
      }
      case 'note': {
        const before = this.#read(NOTES) ?? '';
        return this.#save(NOTES, before, `${before}- ${this.#word()} noted\n`, step.mode, random);
      }
      case 'add task': {
        const before = this.#read(TASKS) ?? '';
        return this.#save(TASKS, before, `${before}- [ ] @helper ${this.#word()} do:say\n`, step.mode, random);
      }
      case 'remove a line': {
        const before = this.#read(NOTES) ?? '';
        const lines = before.split('\n');
        const at = lines.findIndex(line => / w\d+ noted/.test(line));
        if (at === -1) return 'nothing to remove';
        lines.splice(at, 1);
        return this.#save(NOTES, before, lines.join('\n'), step.mode === 'append' ? 'rename' : step.mode, random);
      }
      case 'edit a message': {
        const path = FILES[2 + random.int(3)] ?? FILES[2];
        const before = this.#read(path);
        const [, word] = /content: "?(w\d+) do:/.exec(before ?? '') ?? [];
        if (before === undefined || word === undefined) return 'nothing to edit';
        const after = before.replace(word, this.#word());
        return this.#save(path, before, after, step.mode === 'append' ? 'rename' : step.mode, random);
      }
      case 'open': {
        const path = FILES[step.file] ?? NOTES;
        const text = this.#read(path);
        if (text === undefined) return 'nothing to open';
        this.#buffers.set(path, {path, text});
        return path;
      }
      case 'save what was opened': {
        const path = FILES[step.file] ?? NOTES;
        const buffer = this.#buffers.get(path);
        if (!buffer) return 'nothing is open';
        this.#buffers.delete(path);
        const mode = step.mode === 'append' ? 'in place' : step.mode;
        return this.#save(path, buffer.text, buffer.text + this.#lineFor(path), mode, random);
      }
      case 'decide':
        return this.#decide(step, random);
      case 'inbox':
        return this.#send(step, random);
      case 'log':
      case 'touch log':
      case 'rotate':
        return this.#log.do(step, random);
      case 'delete': {
        const path = FILES[step.file] ?? NOTES;
        const text = this.#read(path);
        if (text === undefined || this.#saving.has(path)) return 'nothing to delete';
        this.#deleted = {path, text};
        for (const word of wordsIn(text)) this.removed.add(word);
        this.#disk.remove(path);
        return path;
      }
      case 'bring back': {
        const deleted = this.#deleted;
        if (!deleted || this.#read(deleted.path) !== undefined) return 'nothing to bring back';
        this.#deleted = undefined;
        return this.#save(deleted.path, '', deleted.text, 'rename', random);
      }
      case 'git commit':
        return this.#git.commitAll('by hand', random.chance(0.3)) ? 'committed' : 'nothing to commit';
      case 'git checkout':
      case 'git revert':
      case 'git reset':
        return this.#moveGit(step.do, random);
      default:
        return '';
    }
  }

  /** Decide whatever still waits, and say how many there were. */
  decideAll(random: SeededRandom): number {
    const open = this.#open();
    for (const {command} of open)
      this.#decide(
        {
          do: 'decide',
          how: random.chance(0.5) ? 'approve' : 'reject',
          where: 'queue',
          mode: 'rename',
          seed: 0,
          wait: 0,
        },
        random,
        command,
      );
    return open.length;
  }

  #word(): string {
    return `w${++this.#count}`;
  }

  #lineFor(path: string): string {
    if (path === NOTES) return `- ${this.#word()} noted\n`;
    if (path === TASKS) return `- [ ] @helper ${this.#word()} do:say\n`;
    return `  - role: user\n    content: "${this.#word()} do:say"\n`;
  }

  #read(path: string): string | undefined {
    if (this.#saving.has(path)) return undefined;
    return this.#disk.exists(path) ? this.#disk.read(path).toString() : undefined;
  }

  /** `base`: what the editor had read, which need not be what is there. */
  #save(path: string, base: string, text: string, mode: SaveMode, random: SeededRandom): string {
    if (this.#saving.has(path)) return 'is just being saved';
    const there = this.#read(path) ?? '';
    const kept = new Set(wordsIn(text));
    for (const word of wordsIn(base)) if (!kept.has(word)) this.removed.add(word);
    const shown = wordsIn(there);
    const stale = new Set([...wordsIn(base)].filter(word => !shown.has(word)));
    const isAppended = mode === 'append' && there === base;
    if (!isAppended) this.#writesOver(path, there, text, base);
    const parts = isAppended ? [text.slice(base.length)] : mode === 'slowly' ? slices(text, random) : [text];
    if (path.includes('/')) this.#disk.makeDirectory(path.slice(0, path.lastIndexOf('/')));
    if (mode === 'rename') {
      const temporary = `${path.slice(0, path.lastIndexOf('/') + 1)}.saved-by-editor`;
      this.#disk.write(temporary, text);
      this.#disk.rename(temporary, path);
      this.#wrote(path, text, stale);
      return `${path}: ${mode}`;
    }
    const file = this.#disk.open(path, isAppended ? 'a' : 'w');
    const life = this.#life;
    this.#saving.add(path);
    const next = () => {
      const part = parts.shift();
      if (life !== this.#life) {
        // Cut off by the power cut: whatever was there is torn.
        for (const word of [...wordsIn(there), ...wordsIn(text)]) this.removed.add(word);
        return;
      }
      if (part !== undefined) file.write(Buffer.from(part));
      if (parts.length > 0) this.#time.after(1 + random.int(40), next);
      else {
        file.close();
        this.#saving.delete(path);
        this.#wrote(path, text, stale);
      }
    };
    next();
    return `${path}: ${isAppended ? 'append' : mode}${there === base ? '' : ', from an older version'}`;
  }

  /** `stale`: words of an older text that this save was made from. They may have been removed since. */
  #wrote(path: string, text: string, stale: ReadonlySet<string> = new Set()): void {
    for (const word of wordsIn(text)) {
      this.written.set(word, path);
      if (!stale.has(word)) this.removed.delete(word);
    }
  }

  /**
   * People may undo their own changes: a save removes the lines that it lacks and that no version of the daemon has. So does a save of
   * tasks that have no ids yet, with as many other lines in their place: nobody can tell whether that is an old text or an edit. Nor can
   * anybody tell if no daemon ever saw the version that the save was made from.
   */
  #writesOver(path: string, there: string, text: string, base: string): void {
    const kept = new Set(wordsIn(text));
    const lost = [...wordsIn(there)].filter(word => !kept.has(word));
    if (lost.length === 0) return;
    const isEdit = path === TASKS && text.split('\n').length === there.split('\n').length;
    const isUnseen = base !== there && base !== '' && !this.#git.blobs.has(blobId(Buffer.from(base)));
    const known = this.#daemonWords();
    for (const word of lost) if (isUnseen || isEdit || !known.has(word)) this.removed.add(word);
  }

  #daemonWords(): Set<string> {
    const all = new Set<string>();
    for (const blob of this.#git.daemonBlobs) {
      const words = this.#blobWords.get(blob) ?? wordsIn(this.#git.blobs.get(blob)?.toString() ?? '');
      this.#blobWords.set(blob, words);
      for (const word of words) all.add(word);
    }
    return all;
  }

  #open(): {id: string; command: string}[] {
    const text = this.#read(APPROVALS_FILE);
    if (text === undefined) return [];
    return readApprovalItems(parseTasks(text)).items.flatMap(({id, command, status, decision}) =>
      id !== undefined && command !== undefined && status === 'pending' && decision === undefined
        ? [{id, command}]
        : [],
    );
  }

  #decide(step: Extract<Step, {do: 'decide'}>, random: SeededRandom, only?: string): string {
    const open = this.#open().filter(({command}) => only === undefined || command === only);
    if (open.length === 0) return 'nothing to decide';
    const {id, command} = random.pick(open);
    const page = `approvals/pending/${id}.approval.md`;
    const isPage = step.where === 'page' && this.#disk.exists(page);
    const path = isPage ? page : APPROVALS_FILE;
    const before = this.#read(path);
    if (before === undefined) return 'is just being saved';
    let after: string;
    if (isPage) after = setReview(before, {decision: step.how === 'approve' ? 'approved' : 'rejected'});
    else {
      const file = parseTasks(before);
      const item = readApprovalItems(file).items.find(each => each.id === id);
      if (!item) return 'nothing to decide';
      after = updateTask(file, item.task, {box: step.how === 'approve' ? 'x' : '-'});
    }
    this.decisions.set(command, (this.decisions.get(command) ?? new Set()).add(step.how));
    if (step.how === 'approve') this.approved.set(command, (this.approved.get(command) ?? new Set()).add(id));
    return `${step.how} ${command}; ${this.#save(path, before, after, step.mode === 'append' ? 'rename' : step.mode, random)}`;
  }

  #send({lines, slowly}: Extract<Step, {do: 'inbox'}>, random: SeededRandom): string {
    if (this.#saving.has(INBOX)) return 'somebody writes there';
    const words = Array.from({length: lines}, () => `i${++this.#count}`);
    const all = words.map(word => `${JSON.stringify({text: `${word} do:say`})}\n`).join('');
    const text = `${this.#isInboxTorn ? '\n' : ''}${all}`;
    this.#isInboxTorn = false;
    this.#disk.makeDirectory('inbox');
    const file = this.#disk.open(INBOX, 'a');
    const life = this.#life;
    const cut = slowly ? random.int(text.length) : 0;
    if (cut > 0) this.#saving.add(INBOX);
    if (cut > 0) file.write(Buffer.from(text.slice(0, cut)));
    const rest = () => {
      if (life !== this.#life) return;
      file.write(Buffer.from(text.slice(cut)));
      file.close();
      this.#saving.delete(INBOX);
      for (const word of words) this.written.set(word, INBOX);
    };
    if (cut > 0) this.#time.after(1 + random.int(300), rest);
    else rest();
    return words.join(' ');
  }

  #moveGit(how: 'git checkout' | 'git revert' | 'git reset', random: SeededRandom): string {
    const {head} = this.#git;
    const history = [...this.#git.history()];
    const [last] = history;
    const earlier = history[1 + random.int(3)];
    if (!head || !last?.parent || !earlier || this.#git.faults.unfinished || this.#saving.size > 0) return 'not now';
    const before = this.#texts();
    if (how === 'git checkout') {
      const path = random.pick(FILES);
      this.#git.checkout(earlier.id, path);
    } else if (how === 'git revert') {
      if (this.#git.dirty().length > 0) return 'git refuses: there are changes';
      this.#git.moveTo(this.#git.tree(last.parent), 'revert');
    } else {
      const dirty = this.#git.dirty();
      this.#git.moveTo(this.#git.tree(earlier.id), earlier.id);
      for (const path of dirty) this.#git.checkout(earlier.id, path);
    }
    const after = [...this.#texts().values()].join('\n');
    for (const text of before.values())
      for (const word of wordsIn(text)) if (!wordsIn(after).has(word)) this.removed.add(word);
    // What comes back is there on purpose.
    for (const [path, text] of this.#texts()) if (before.get(path) !== text) this.#wrote(path, text);
    return `to ${earlier.subject}`;
  }

  #texts(): Map<string, string> {
    const paths = new Set([...this.#git.tree().keys(), ...FILES]);
    return new Map(
      [...paths].flatMap(path => (this.#disk.exists(path) ? [[path, this.#disk.read(path).toString()]] : [])),
    );
  }
}

function slices(text: string, random: SeededRandom): string[] {
  const at = [random.int(text.length + 1), random.int(text.length + 1)].sort((a, b) => a - b);
  return [text.slice(0, at[0]), text.slice(at[0], at[1]), text.slice(at[1])];
}
