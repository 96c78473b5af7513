/** What a page tells its reader to do, in order. */
export interface Step {
  line: number;
  command: string;
  /** What it says comes of it; undefined: nothing is said. */
  shown: string | undefined;
  /** The block after `$EDITOR FILE`: what to write there. */
  written?: string;
}

interface Block {
  line: number;
  language: string;
  lines: string[];
}

export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  for (const [index, line] of page.split('\n').entries()) {
    const fence = /^ {0,3}```(.*)$/.exec(line);
    if (!fence) open?.lines.push(line);
    else if (open) open = undefined;
    else {
      open = {line: index + 2, language: fence[1] ?? '', lines: []};
      blocks.push(open);
    }
  }
  return blocks;
}

/** The commands of all `console` and `sh` blocks. */
export function stepsOf(page: string): Step[] {
  const blocks = blocksOf(page);
  const steps: Step[] = [];
  for (const [index, {line, language, lines}] of blocks.entries()) {
    if (language === 'sh')
      for (const [below, text] of lines.entries()) steps.push({line: line + below, command: text, shown: undefined});
    if (language !== 'console') continue;
    for (const [below, text] of lines.entries()) {
      const last = steps.at(-1);
      if (text.startsWith('$ ')) steps.push({line: line + below, command: text.slice(2), shown: undefined});
      else if (last) last.shown = last.shown === undefined ? text : `${last.shown}\n${text}`;
    }
    const last = steps.at(-1);
    const next = blocks[index + 1];
    if (last?.command.startsWith('$EDITOR ') && next && /^(?:yaml|markdown)\b/.test(next.language))
      last.written = `${next.lines.join('\n')}\n`;
  }
  return steps;
}

/** Commands within the text: `agentdir …`, `npm …`. */
export function inlineCommands(page: string): string[] {
  const prose = page.replace(/^ {0,3}```[\s\S]*?^ {0,3}```$/gm, '');
  return [...prose.matchAll(/`((?:agentdir|npm) [^`]+)`/g)].map(([, command = '']) => command);
}

/** What differs from run to run or with every new template: times, ids, commits, processes, ages, numbers of files, widths of columns. */
function masked(text: string): string {
  return (
    text
      .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?|\b\d\d:\d\d(?::\d\d)?\b/g, '<time>')
      .replace(/\b[0-9a-z]{12}\b/g, '<id>')
      .replace(/\b[0-9a-f]{7,40}\b/g, '<hash>')
      .replace(/\bprocess \d+/g, 'process <n>')
      .replace(/\b\d+ (commits|files)\b/g, '<n> $1')
      .replace(/│ (?:now|\d+[smhd]) +│/g, '│ <age> │')
      // Without a sandbox it is the host.
      .replace(/│ (?:MEDIUM │ +|HIGH +│ host +)│ command[^│]*│/g, '│ <risk> │ command │')
      .replace(/ {2,}(?=│)|(?<=[^\s])─+/g, ' ')
  );
}

/** Whether this output has the shape that the page shows; `…` stands for anything, alone on a line for any lines. */
export function hasShape(shown: string, output: string): boolean {
  const parts = masked(shown)
    .split('\n')
    .map(line => (line === '…' ? '(?:.*\n)*' : `${line.split('…').map(escaped).join('.*')}\n`));
  return new RegExp(`^${parts.join('')}$`).test(masked(`${output.trimEnd()}\n`));
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
