import * as agentdir from '../dist/index.js';
import {hostileTexts} from './hostile.mjs';
import {rounds, table} from './measure.mjs';
import {row} from './row.mjs';

/** One for each way of reading; the other YAML formats share the session's. */
const parsers = {
  tasks: agentdir.parseTasks,
  session: text => agentdir.parseSession(text),
  'Markdown template': text => agentdir.parseMarkdownTemplate(text, 'x'),
  approval: agentdir.parseApproval,
  allowlist: agentdir.parseAllowlist,
  inbox: text => agentdir.parseInbox(text),
  channel: agentdir.parseChannel,
};

/** Ten times as long takes ten times as long where time is linear. */
const [SMALL, LARGE] = rounds([1_000_000, 10_000_000], [30_000, 300_000]);
const megabytes = size => `${size / 1e6} MB`;

/** Texts of 10 MB made to break parsers: the slowest of them, for each parser, and how time grows with length. */
export default function hostile() {
  const rows = [];
  for (const [name, parse] of Object.entries(parsers)) {
    const worst = length => {
      let slowest = {text: '', ms: 0};
      for (const [kind, text] of Object.entries(hostileTexts(length))) {
        const start = performance.now();
        parse(text);
        const ms = performance.now() - start;
        if (ms > slowest.ms) slowest = {text: kind, ms};
      }
      return slowest;
    };
    const small = worst(SMALL);
    const large = worst(LARGE);
    row(`${name}, slowest text of ${megabytes(LARGE)}`, {
      ours: large.ms,
      baseline: {name: `of ${megabytes(SMALL)}`, value: small.ms},
    });
    rows.push([name, small.ms, small.text, large.ms, large.text, `${(large.ms / small.ms).toFixed(1)}×`]);
  }
  table(
    'hostile texts, the slowest of each kind, ms',
    ['parser', megabytes(SMALL), 'text', megabytes(LARGE), 'text', 'growth (linear: 10×)'],
    rows,
  );
}
