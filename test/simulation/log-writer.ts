import type {Disk} from '../../src/home/disk/disk.ts';
import type {SeededRandom} from './random.ts';
import type {LogStep} from './steps.ts';
import type {SimulatedTime} from './time.ts';

const NAME = 'log.jsonl';
export const LOG = `inbox/${NAME}`;

/**
 * A program that appends lines to an inbox and rotates it, as logrotate does. Each line has a word of its own: `i17` in a message, `b17` in
 * a line that is no message.
 */
export class LogWriter {
  readonly #disk: Disk;
  readonly #time: SimulatedTime;
  /** Words that were written, and words that nobody may see, because they came between copy and truncation. */
  readonly #words: {written: Map<string, string>; removed: Set<string>};
  #count = 0;
  #rotations = 0;
  #isCopying = false;

  constructor(disk: Disk, time: SimulatedTime, words: {written: Map<string, string>; removed: Set<string>}) {
    this.#disk = disk;
    this.#time = time;
    this.#words = words;
  }

  do(step: LogStep, random: SeededRandom): string {
    this.#disk.makeDirectory('inbox');
    if (step.do === 'touch log') {
      this.#disk.open(LOG, 'a').close();
      return LOG;
    }
    if (step.do === 'log') return this.#append(step.lines, random).join(' ');
    if (this.#isCopying) return 'a rotation is under way';
    if (!this.#disk.exists(LOG)) return 'nothing to rotate';
    if (step.how === 'rename') {
      this.#disk.rename(LOG, this.#placeFor(step));
      if (random.chance(0.5)) this.#disk.open(LOG, 'a').close();
      return step.how;
    }
    const to = this.#placeFor(step);
    this.#disk.write(to, this.#disk.read(LOG));
    // These are in no file after the truncation: they come once, or never.
    const truncate = () => {
      this.#isCopying = false;
      this.#disk.open(LOG, 'r+').truncate(0);
    };
    if (step.ms === 0) truncate();
    else {
      this.#isCopying = true;
      this.#time.after(step.ms, truncate);
    }
    return step.how;
  }

  #append(lines: number, random: SeededRandom): string[] {
    const words: string[] = [];
    let text = '';
    for (let n = 0; n < lines; n++) {
      const isBad = random.chance(0.15);
      const word = `${isBad ? 'b' : 'i'}${++this.#count + 100_000}`;
      const to = random.pick(['helper', 'worker']);
      text += isBad ? `${word} is no JSON\n` : `${JSON.stringify({text: `${word} do:say`, to})}\n`;
      words.push(word);
      this.#words.written.set(word, isBad ? 'inbox/rejected/log.jsonl' : LOG);
      if (this.#isCopying) this.#words.removed.add(word);
    }
    const file = this.#disk.open(LOG, 'a');
    file.write(Buffer.from(text));
    file.close();
    return words;
  }

  /** Where the file goes. Numbered files move up; none is ever deleted. */
  #placeFor({names}: {names: 'numbers' | 'dates'}): string {
    this.#rotations++;
    if (names === 'dates') return `${LOG}-202603${String(this.#rotations).padStart(2, '0')}`;
    let last = 0;
    while (this.#disk.exists(`${LOG}.${last + 1}`)) last++;
    for (let n = last; n > 0; n--) this.#disk.rename(`${LOG}.${n}`, `${LOG}.${n + 1}`);
    return `${LOG}.1`;
  }
}
