import {agentName} from '../home.mjs';
import {orders} from './sessions.mjs';

const MOST = 40;
const FILES = 8;

/** People who work in task files. */
export function taskEdits(world) {
  const {random, ledger, hands, options} = world;
  const anyFile = () => `tasks/work-${random.number(0, FILES)}.task.md`;
  const line = ({mark}, box) => new RegExp(`^- \\[${box}\\]( @\\S+ #soak "${mark} )`, 'm');

  async function add() {
    const path = anyFile();
    if (ledger.tasks.filter(task => task.path === path).length >= MOST) return tick();
    const mark = ledger.mark();
    const agent = agentName(random.number(0, options.agents));
    const before = random.chance(0.3) ? random.pick(ledger.tasks) : undefined;
    const key = `  x_mine: ${ledger.mark()}   # all of it`;
    const steps = orders(world, 2);
    const text = [
      `- [ ] @${agent} #soak "${mark} job" <!-- ${mark} -->`,
      `  id: t-${mark}`,
      key,
      ...(before ? [`  depends_on: t-${before.mark}`] : []),
      `  prompt: Do it. [soak ${mark}${steps && ` ${steps}`}]`,
      '',
    ].join('\n');
    if (!(await hands.change(path, now => (now.endsWith('\n') ? now + text : undefined)))) return;
    ledger.tasks.push({mark, path, agent, done: false});
    ledger.lines.push({path, line: key, what: 'unknown field'});
  }

  async function tick() {
    const task = random.pick(ledger.tasks);
    if (!task) return add();
    const done = await hands.change(task.path, text =>
      line(task, '[ /]').test(text) ? text.replace(line(task, '[ /]'), '- [x]$1') : undefined,
    );
    if (done) task.done = true;
  }

  /** To be done once more. */
  async function setBack() {
    const task = random.pick(ledger.tasks);
    if (!task) return;
    const done = await hands.change(
      task.path,
      text => (line(task, 'x').test(text) ? text.replace(line(task, 'x'), '- [ ]$1') : undefined),
      {fresh: true},
    );
    if (done) task.done = false;
  }

  async function prose() {
    const path = anyFile();
    const words = `Mind ${ledger.mark()}, everybody.`;
    if (await hands.change(path, text => text.replace(/^## TODO$/m, `${words}\n\n## TODO`)))
      ledger.lines.push({path, line: words, what: 'prose'});
  }

  /** Two tasks that follow one another, the other way round. */
  const reorder = () =>
    hands.change(
      anyFile(),
      text => {
        const at = text.indexOf('## TODO');
        const blocks = text.slice(at).split(/^(?=- \[)/m);
        if (blocks.length < 3) return undefined;
        const nth = random.number(1, blocks.length - 1);
        const [one, two] = [blocks[nth], blocks[nth + 1]];
        if (/^\S(?<!-)/m.test(one.slice(1)) || /\n\n/.test(one + two)) return undefined;
        blocks.splice(nth, 2, two, one);
        return text.slice(0, at) + blocks.join('');
      },
      {fresh: true},
    );

  return {add, tick, setBack, prose, reorder};
}
