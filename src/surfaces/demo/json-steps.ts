import {printJson} from '../terminal/output.ts';
import type {StoryTeller} from './teller.ts';

/** For programs: a line of JSON for each step, as soon as it is seen. */
export const jsonSteps: StoryTeller = {
  async begin(home) {
    printJson({step: 'begin', home});
  },
  async showStep({step, title, path, lines, commit, author}) {
    printJson({step, title, path, commit, author, lines: lines.map(({sign, text}) => `${sign}${text}`)});
  },
  async turn(turn) {
    printJson({step: 'your-turn', ...turn});
  },
  aside(text) {
    printJson({step: 'aside', text});
  },
  async end({home, tasks, sent, commits}) {
    printJson({step: 'end', home, tasks, sent, commits});
  },
  stopped(home) {
    printJson({step: 'stopped', home});
  },
};
