import {UserError} from '../../formats/common/errors.ts';
import {isTime} from '../../formats/common/values.ts';
import {readChannel} from '../actions/workflows/channel.ts';
import {colors} from '../terminal/output.ts';
import {channelEntry, type Entry, errorEntry, noticeEntry} from './entries.ts';
import type {InstanceState} from './home-view.ts';

/** How many entries of a long channel are shown when it is opened. */
const OPENED = 30;

/** The channel of a workflow instance on the screen. Each entry of the file is shown once. */
export class ChannelConversation {
  readonly instance: string;
  readonly #home: string;
  /** How often each entry was shown. */
  readonly #shown = new Map<string, number>();
  #isOpened = false;
  #error = '';
  #status: string | undefined;

  constructor(home: string, instance: string) {
    this.#home = home;
    this.instance = instance;
  }

  /** New entries of the channel. Must not throw for a file with errors: reports it once. */
  read(state: InstanceState | undefined): Entry[] {
    const agents = new Set(state?.agents);
    try {
      const {entries} = readChannel(this.#home, this.instance);
      this.#error = '';
      const counts = new Map<string, number>();
      const news = entries.filter(({time, from, text}) => {
        const key = `${time} ${from}\n${text}`;
        const count = (counts.get(key) ?? 0) + 1;
        counts.set(key, count);
        if (count <= (this.#shown.get(key) ?? 0)) return false;
        this.#shown.set(key, count);
        return true;
      });
      const skipped = this.#isOpened ? 0 : Math.max(0, news.length - OPENED);
      this.#isOpened = true;
      return [
        ...(skipped > 0 ? [noticeEntry(`${skipped} earlier entries: agentdir context read`)] : []),
        ...news.slice(skipped).map(({from, time, text}) => channelEntry(from, agents.has(from), clock(time), text)),
        ...this.#statusEntries(state),
      ];
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      if (this.#error === error.message) return [];
      this.#error = error.message;
      return [errorEntry(error.message, error.hint)];
    }
  }

  #statusEntries(state: InstanceState | undefined): Entry[] {
    if (!state || state.status === this.#status) return [];
    this.#status = state.status;
    if (state.status === 'failed')
      return [errorEntry(`${this.instance} failed: ${state.error ?? 'see agentdir list'}`)];
    const isAtWork = state.status === 'running' || state.status === 'idle';
    return isAtWork ? [] : [noticeEntry(`${this.instance} is ${state.status}`, colors.yellow)];
  }
}

/** `10:00:05`, also of a full time. */
function clock(time: string): string {
  return isTime(time) ? new Date(time).toTimeString().slice(0, 8) : time;
}
