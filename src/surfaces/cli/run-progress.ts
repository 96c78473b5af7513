import {makeVisible} from '../../formats/common/visible.ts';
import {type InstanceProgress, shortName} from '../actions/workflows/follow.ts';
import {colors} from '../terminal/output.ts';

/** Shows the progress of an instance on stderr. */
export interface RunProgress {
  show: (now: InstanceProgress) => void;
  end: () => void;
}

const SHORT = 100;

/** On a terminal, with --verbose, or `always`: who works, who is mentioned, the tokens so far. With --verbose, entries and answers in full. */
export function runProgress({json, verbose, always}: {json: boolean; verbose: boolean; always: boolean}): RunProgress {
  const {stderr} = process;
  if (!verbose && (json || (!always && !stderr.isTTY))) return {show: () => {}, end: () => {}};
  let seen = 0;
  let open = '';
  const statuses = new Map<string, string>();
  const answers = new Map<string, string>();
  const line = (text: string) => {
    clear();
    stderr.write(`${text}\n`);
  };
  const clear = () => {
    if (open !== '') stderr.write('\r\x1b[K');
    open = '';
  };
  return {
    show({entries, agents, usage}) {
      for (const {from, text} of entries.slice(seen)) line(entryLine(from, text, verbose));
      seen = entries.length;
      for (const {name, status, answer} of agents) {
        const short = shortName(name);
        if (statuses.get(name) !== status && (statuses.has(name) || status !== 'new')) line(statusLine(short, status));
        statuses.set(name, status);
        if (verbose && answer && answer !== answers.get(name))
          line(colors.dim(`${short} answered: ${makeVisible(answer, false).replaceAll('\n', '\n  ')}`));
        if (answer) answers.set(name, answer);
      }
      if (!stderr.isTTY) return;
      const working = agents.filter(({status}) => status === 'active').map(({name}) => shortName(name));
      const next = `${working.length > 0 ? `working: ${working.join(', ')}` : 'waiting'} · ${usage.input_tokens + usage.output_tokens} tokens`;
      if (next === open) return;
      clear();
      stderr.write(colors.dim(next.slice(0, (stderr.columns || 80) - 1)));
      open = next;
    },
    end: clear,
  };
}

function entryLine(from: string, text: string, verbose: boolean): string {
  const visible = makeVisible(text, false);
  // Indented, so that no line of it passes for an entry of another.
  if (verbose) return `${colors.bold(makeVisible(from))}: ${visible.replaceAll('\n', '\n  ')}`;
  const flat = visible.replace(/\s+/g, ' ').trim();
  return `${colors.bold(makeVisible(from))}: ${flat.length > SHORT ? `${flat.slice(0, SHORT - 1)}…` : flat}`;
}

function statusLine(name: string, status: string): string {
  if (status === 'active') return colors.cyan(`${name} works`);
  if (status === 'sleeping') return colors.dim(`${name} is done`);
  return colors.yellow(`${name} is ${status}`);
}
