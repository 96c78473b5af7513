import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, expect} from 'vitest';
import {APPROVALS_FILE, type ApprovalItem} from '../../src/formats/approval/approval-item.ts';
import {until} from '../cli/run.ts';
import {askedBy, decideInQueue, itemsOf, pagePath, pagesIn, whenItem} from '../daemon/deciding.ts';
import {type House, openHouse} from '../daemon/house.ts';
import {read} from '../daemon/serve.ts';
import {atRest, begin, sessionOf, whenIt} from '../daemon/talk.ts';

export const AGENT = `id: talker
type: talker
system_prompt: You ask.
capabilities: [execute_command, read_file, write_file, create_file, edit_file, ask_human]
`;
export const POLICY = `version: 1
commands:
  allow: ["cat *"]
  deny: ["rm -rf *"]
`;

export interface Result {
  success: boolean;
  code?: string;
  error?: string;
  [key: string]: unknown;
}

export interface CallOf {
  id?: string;
  name: string;
  arguments: Record<string, unknown>;
}

/** A command that asks, and leaves a line in a file each time it runs. */
export interface Canary {
  line: string;
  /** How often it ran. */
  runs: () => number;
}

export const command = (text: string, more: Record<string, unknown> = {}): CallOf => ({
  name: 'execute_command',
  arguments: {command: text, ...more},
});

/** A home where agents ask and somebody cheats. In the end no canary has run twice, or at all unless `may` says so. */
export class Court {
  readonly house: House;
  readonly name: string;
  readonly #canaries: (Canary & {most: number})[] = [];
  #count = 0;

  constructor(name: string, files: Record<string, string> = {}) {
    this.name = name;
    // The queue may have been saved with errors.
    this.house = openHouse(
      () => ({'templates/talker.agent.yaml': AGENT, 'allowlist.yaml': POLICY, ...files}),
      [APPROVALS_FILE],
    );
    afterAll(() => {
      for (const {line, most, runs} of this.#canaries) expect(runs(), line).toBeLessThanOrEqual(most);
    });
  }

  get home(): string {
    return this.house.home;
  }

  inWorkspace(path: string): string {
    return join(this.home, 'workspaces/talker', path);
  }

  /** `most`: how often it may run. */
  canary(most: 0 | 1): Canary {
    const path = `ran-${++this.#count}.txt`;
    const runs = () => {
      const file = this.inWorkspace(path);
      return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
    };
    const canary = {line: `echo ran >> ${path}`, runs};
    this.#canaries.push({...canary, most});
    return canary;
  }

  /** A session whose model makes these calls, an answer each, then ends. */
  calling(...answers: CallOf[][]): string {
    const id = `${this.name}${++this.#count}`;
    this.house.stage.parts.set(id, (_, nth) => {
      const calls = answers[nth];
      return calls ? {calls: calls.map((call, i) => ({id: `call${i}`, ...call}))} : {text: 'done'};
    });
    begin(this.home, id, `${id} please`);
    return id;
  }

  /** A canary that somebody is asked about. */
  async asks(most: 0 | 1): Promise<Canary & {session: string; item: ApprovalItem; id: string}> {
    const canary = this.canary(most);
    const session = this.calling([command(canary.line)]);
    const item = await askedBy(this.home, session);
    return {...canary, session, item, id: item.id ?? ''};
  }

  /** What somebody is asked about these calls of a session, once they have pages. */
  async asked(session: string, ...calls: (string | undefined)[]): Promise<ApprovalItem[]> {
    const found = () => {
      const items = itemsOf(this.home).filter(item => item.session === session);
      const pages = pagesIn(this.home, 'pending');
      return calls.flatMap(id => items.find(({call, id: of = ''}) => call === id && pages.includes(of)) ?? []);
    };
    return until(found, items => items.length === calls.length);
  }

  /** What the model was told of its calls, when the session is done. */
  async results(id: string): Promise<Result[]> {
    const {messages} = await whenIt(this.home, id, atRest);
    return messages.filter(({role}) => role === 'tool_result').map(({content}) => JSON.parse(content ?? '') as Result);
  }

  /** What waits for a person says so. */
  async told(words: string): Promise<void> {
    await until(
      () => read(this.home, 'NEEDS_YOU.md'),
      text => text.includes(words),
    );
  }

  /** It still waits: the person who says no now is who decides. Only the last request of the session is open. */
  async refuse(session: string, id: string | undefined): Promise<void> {
    decideInQueue(this.home, id, '-', {rejection_reason: 'the end'});
    expect((await this.results(session)).at(-1)).toMatchObject({code: 'REJECTED'});
  }

  /** It was not taken for a decision on the new request that was made of it. */
  async askedAnew({session, id}: {session: string; id: string | undefined}): Promise<void> {
    const waitsFor = () =>
      sessionOf(this.home, session)
        .messages.flatMap(({tool_calls = []}) => tool_calls)
        .at(-1);
    const again = await until(waitsFor, call => call?.approval !== id);
    await whenItem(this.home, again?.approval, ({status}) => status === 'pending');
    await this.refuse(session, again?.approval);
  }

  get queue(): string {
    return read(this.home, APPROVALS_FILE);
  }

  /** As an editor that saves in place. */
  saveQueue(text: string): void {
    writeFileSync(join(this.home, APPROVALS_FILE), text);
  }

  changePage(id: string, change: (text: string) => string): void {
    const path = join(this.home, pagePath(id));
    writeFileSync(path, change(readFileSync(path, 'utf8')));
  }

  /** Several saves that the daemon sees at one moment. */
  atOnce(save: () => void): void {
    process.kill(this.house.daemon.pid, 'SIGSTOP');
    try {
      save();
    } finally {
      process.kill(this.house.daemon.pid, 'SIGCONT');
    }
  }
}
