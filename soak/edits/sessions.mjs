import {join} from 'node:path';
import {readText} from '../editors.mjs';
import {agentName} from '../home.mjs';
import {pause, until} from '../run-command.mjs';
import {forbidden} from '../steps.mjs';

const MOST = 80;
const quoted = text => JSON.stringify(text);
const message = words => `  - role: user\n    content: ${quoted(words)}\n`;

/** What an agent is to do, as steps of its model. */
export function orders({random, options}, most = 3) {
  const other = () => agentName(random.number(0, options.agents));
  const one = () =>
    random.weighted([
      [3, 'look'],
      [2, 'list'],
      [4, 'run'],
      [2, 'count'],
      [3, 'create'],
      [2, 'write'],
      [1, 'ask'],
      [2, 'remember'],
      [3, `send:${other()}`],
      [2, `task:${other()}`],
      [1, `after:${other()}`],
      [2, random.pick(forbidden)],
    ]);
  return Array.from({length: random.number(0, most + 1)}, one).join(' ');
}

/** People who talk to agents by way of session files. */
export function sessionEdits(world) {
  const {random, ledger, hands, home, options} = world;
  const paths = [];

  const words = (mark, version) => {
    const steps = orders(world);
    const leak = random.chance(0.05) ? ' leak' : '';
    return {first: `${mark} v${version}`, rest: ` please${leak} [soak ${mark}${steps && ` ${steps}`}]`};
  };
  const noted = (mark, path, {first, rest}) => ledger.messages.push({mark, path, version: 1, first, rest});

  async function begin() {
    if (paths.length >= MOST) return say();
    const mark = ledger.mark();
    const path = `sessions/people/s-${mark}.session.yaml`;
    const said = words(mark, 1);
    const comment = `# ${ledger.mark()}: mine,   as I like it`;
    const key = `x_mine:   '${ledger.mark()}'   # unknown`;
    const agent = agentName(random.number(0, options.agents));
    const text = `${comment}\nagent_id: ${agent}\n${key}\nmessages:\n${message(said.first + said.rest)}`;
    if (!(await hands.change(path, () => text, {fresh: true, make: true}))) return;
    for (const line of [comment, key]) ledger.lines.push({path, line, what: 'comment'});
    noted(mark, path, said);
    paths.push(path);
  }

  async function say() {
    const path = random.pick(random.chance(0.5) ? paths.slice(-6) : paths);
    if (!path) return begin();
    const mark = ledger.mark();
    const said = words(mark, 1);
    const done = await hands.change(path, text =>
      text.endsWith('\n') ? text + message(said.first + said.rest) : undefined,
    );
    if (done) noted(mark, path, said);
  }

  /** Other words for what was said, whether it is answered or not. */
  async function rephrase() {
    const own = random.pick(ledger.messages);
    if (!own) return;
    const next = `${own.mark} v${own.version + 1}`;
    // One that the daemon has taken: else nobody can tell it from another message, and both are kept.
    const taken = text => text.split(own.first)[1]?.split('\n')[1]?.startsWith('    from: ');
    const done = await hands.change(own.path, text => (taken(text) ? text.replace(own.first, next) : undefined));
    if (!done) return;
    own.version++;
    own.first = next;
  }

  /** While the model thinks about it: its reply must not be taken. */
  async function rephraseMeanwhile() {
    const mark = ledger.mark();
    const path = `sessions/people/h-${mark}.session.yaml`;
    const said = {first: `${mark} v1`, rest: ' think hard'};
    const hold = world.mind.hold(said.first);
    const text = `agent_id: ${agentName(random.number(0, options.agents))}\nmessages:\n${message(said.first + said.rest)}`;
    try {
      if (!(await hands.change(path, () => text, {fresh: true, make: true}))) return;
      noted(mark, path, said);
      const own = ledger.messages.at(-1);
      const n = await Promise.race([hold.wasAsked, pause(8_000)]);
      if (n === undefined) return;
      const next = `${mark} v2`;
      const change = now => (now.includes(said.first) ? now.replace(said.first, next) : undefined);
      if (!(await hands.change(path, change, {fresh: true}))) return;
      own.version = 2;
      own.first = next;
      // It is to be seen before the reply comes.
      const seen = await until(() => world.isCommitted(path, next), 8_000, 100);
      if (seen) ledger.stale.add(n);
      if (seen) ledger.counts.messagesChanged++;
    } finally {
      hold.release();
    }
  }

  /** Stopped for a while by its status. */
  async function rest() {
    const path = random.pick(paths);
    if (!path) return;
    const set = to => text =>
      /^status: \w+$/m.test(text) ? text.replace(/^status: \w+$/m, `status: ${to}`) : undefined;
    if (!(await hands.change(path, set('paused'), {fresh: true}))) return;
    await pause(random.between(300, 2_500));
    const isPaused = () => /^status: paused$/m.test(readText(join(home, path)) ?? '');
    await until(async () => !isPaused() || (await hands.change(path, set('active'), {fresh: true})), 60_000, 100);
  }

  return {begin, say, rephrase, rephraseMeanwhile, rest, paths};
}
