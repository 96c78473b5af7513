import {corpus} from './corpus.ts';
import {commands} from './generous.ts';
import type {Random} from './random.ts';

const plain = 'abc019_.=:,@%+^/#!-';
const quoted = 'ab *?(){};|&<>#!=[]-~^%,.:/@+_09';
const keywords =
  '! { } [[ ]] in do done if then else elif fi time coproc function case esac for while until select - -- = == a=b a+=b a[0]=b #x \'\' "" & && | || ; ;; < > << <<< 2>&1 >x $x ${x} $(b) `b` ~ * ? [a] @(a) {a,b} {1..3} \\ \\( \\) \\! $\'a\' $"a" ((1)) (b) \n \t'.split(
    ' ',
  );
const bytes = [...Array(0x110).keys()].map(code => String.fromCodePoint(code));
const odd = [
  '\u00a0',
  '\u2003',
  '\u3000',
  '\u200b',
  '\u202e',
  '\ufeff',
  '\u2028',
  '\u0455',
  '\uff1b',
  '\uff5c',
  '\ud800',
  '\u{e0041}',
  '\u{1f600}',
];
const soup = [...'ab01 \t\n\'"\\$`~!#%^&*()[]{}|;:<>?,./=+-@_'];
const joints = [' ; ', ';', ' && ', '&&', ' || ', '||', ' | ', '|', '; ', ' |', ';  '];
const oddJoints = [' & ', ';;', '\n', '|&', ' &\n', ';&', '&', '\r\n', ' \\\n'];

/** A line by one of the ways, each of which finds what others do not. Every command of a pipeline is a process: not thousands. */
export function generate(random: Random): string {
  const line = anyLine(random);
  return line.split('|').length > 40 ? line.slice(0, 60) : line;
}

function anyLine(random: Random): string {
  const way = random.int(20);
  if (way < 9) return wellFormed(random);
  if (way < 10) return random.some(0, 16, () => random.pick(soup)).join('');
  if (way < 12) return tokens(random);
  if (way < 13) return random.some(0, 12, () => random.pick(random.chance(0.8) ? bytes : odd)).join('');
  if (way < 14) return long(random);
  return mutate(random);
}

function wellFormed(random: Random): string {
  const rest = random.some(0, 4, () => random.pick(random.chance(0.97) ? joints : oddJoints) + command(random));
  return (
    command(random) + rest.join('') + (random.chance(0.06) ? random.pick([';', ' ', '&&', '|', ' ;', ' #', '&']) : '')
  );
}

function command(random: Random): string {
  const words = random.some(0, 4, () => random.pick([' ', ' ', '  ', '   ']) + word(random));
  return random.pick(commands) + words.join('');
}

function word(random: Random): string {
  const letters = (from: string, most: number): string => random.some(0, most, () => random.pick([...from])).join('');
  switch (random.int(12)) {
    case 0:
    case 1:
      return `'${letters(`${quoted}"\\$\``.slice(0, random.chance(0.1) ? 40 : 33), 8)}'`;
    case 2:
    case 3:
      return `"${letters(`${quoted}'${random.chance(0.5) ? '\\\\' : ''}`, 8)}"`;
    case 4:
      return `-${random.chance(0.5) ? '-' : ''}${letters('abcdefonixe', 4)}${random.chance(0.3) ? `='${letters('ab *', 3)}'` : ''}`;
    case 5:
      return `a${letters('bc', 2)}"${letters('ab {', 3)}"'${letters('ab*', 3)}'c`;
    case 6:
      return random.chance(0.25) ? random.pick(keywords) : random.pick(commands);
    default:
      return random.pick(['a', 'b', 'x', '0', '.']) + letters(plain, 6);
  }
}

function tokens(random: Random): string {
  const token = (): string =>
    random.chance(0.5) ? random.pick(commands) : random.chance(0.5) ? random.pick(keywords) : word(random);
  return random.some(1, 10, token).join(random.pick([' ', ' ', '', '  ']));
}

/** Around the limits of what is read at all. */
function long(random: Random): string {
  if (random.chance(0.9)) return wellFormed(random);
  const size = random.pick([300, 3000, 16_380, 16_384, 16_385, 40_000]);
  const unit = random.pick([
    'a',
    'a ',
    'a;',
    "'",
    '"',
    '(',
    '{',
    '$(',
    '\\',
    '`',
    'a && ',
    "'a' ",
    'a|',
    '[',
    '<',
    'env ',
    '#',
  ]);
  return `a ${unit.repeat(Math.ceil(size / unit.length)).slice(0, size)}${random.chance(0.5) ? '' : random.pick([' b', ';b', "'", ')'])}`;
}

/** A known line, or two, with a few changes. */
function mutate(random: Random): string {
  let line = random.pick(corpus);
  if (line.length > 2000 && random.chance(0.9)) line = line.slice(0, 40);
  for (let left = 1 + random.int(3); left > 0; left--) {
    const at = random.int(line.length + 1);
    const to = Math.min(line.length, at + 1 + random.int(3));
    const put = (text: string, end = at): string => line.slice(0, at) + text + line.slice(end);
    switch (random.int(9)) {
      case 0:
        line = put('', to);
        break;
      case 1:
        line = put(random.pick(soup));
        break;
      case 2:
        line = put(random.pick(keywords));
        break;
      case 3:
        line = put(random.chance(0.5) ? random.pick(bytes) : random.pick(odd), to);
        break;
      case 4:
        line = put(line.slice(at, to).repeat(2), to);
        break;
      case 5:
        line = line + random.pick(joints) + random.pick(corpus);
        break;
      case 6:
        line = put(random.pick(["'", '"', "''", '""', '\\']));
        break;
      case 7:
        line = `${random.pick(commands)} ${line}`;
        break;
      default:
        line = line.replace(/\S+/, () => random.pick(commands));
    }
  }
  return line.length > 60_000 ? line.slice(0, 60_000) : line;
}
