import {appendFileSync, existsSync, readFileSync, renameSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {put} from '../cli/run.ts';
import type {Random} from './person.ts';
import {leastForm, lineOf} from './talk.ts';

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

/** Somebody who talks to many sessions at once, and asks on before the answer is there. Knows nothing of daemons. */
export class Asker {
  /** What was asked, by session, in order. */
  readonly asked = new Map<string, string[]>();
  readonly #home: string;
  readonly #random: Random;
  readonly #most: number;
  #count = 0;

  /** So many sessions, with a first question each; in the end `most` at most. */
  constructor(home: string, random: Random, sessions: number, most: number) {
    this.#home = home;
    this.#random = random;
    this.#most = most;
    const files: Record<string, string> = {};
    for (let i = 0; i < sessions; i++) {
      const path = `sessions/talk/talk${i}.session.yaml`;
      const question = this.#question();
      files[path] = leastForm(question, 'worker');
      this.asked.set(path, [question]);
    }
    put(home, files);
  }

  async work(isOver: () => boolean, pace: () => Promise<void>): Promise<void> {
    while (!isOver()) {
      await this.#ask();
      await pace();
    }
  }

  async #ask(): Promise<void> {
    const paths = [...this.asked.keys()];
    const path = paths[Math.floor(this.#random() * paths.length)] ?? '';
    const asked = this.asked.get(path) ?? [];
    const full = join(this.#home, path);
    const text = existsSync(full) ? readFileSync(full, 'utf8') : '';
    // One who does not see their last question waits until they do.
    if (asked.length >= this.#most || !text.includes(`"${asked.at(-1)}"`)) return;
    const question = this.#question();
    asked.push(question);
    if (this.#random() < 0.5) return appendFileSync(full, lineOf(question));
    // The daemon may write the file meanwhile: then this is a save from a stale buffer.
    await pause(this.#random() * 40);
    writeFileSync(`${full}~`, text + lineOf(question));
    renameSync(`${full}~`, full);
  }

  #question(): string {
    return `${this.#random() < 0.3 ? 'write' : 'say'} q${this.#count++}`;
  }
}
