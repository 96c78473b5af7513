import {forEachChild, parse, type SyntaxNode, type Word} from 'unbash';
import {argvOf} from './argv-of.ts';
import {readPlain, type Segment, unclearReasons} from './plain.ts';
import {type Input, inputOf, pipedInputs} from './shell-input.ts';

export interface LineReading {
  /** Every simple command in the line, also inside substitutions and compound commands. */
  segments: Segment[];
  /** If empty, a shell would run exactly each segment's argv, in this order, joined by `operator`. */
  doubts: string[];
}

/** Longer lines, and ambiguous lines with more brackets, use only the linear reader: unbash would take seconds. */
const longest = 16_384;
const mostBrackets = 256;

/**
 * Must not throw. Two readers parse the line: unbash, which knows the whole language, and a plain reader, which is
 * exact for lines without doubts. A line has no doubts only if both agree.
 */
export function readLine(line: string): LineReading {
  const {segments: plain, doubts} = readPlain(line);
  const long = line.length > longest;
  if (long || (doubts.size > 0 && hasManyBrackets(line))) {
    doubts.add(long ? unclearReasons.long : unclearReasons.deep);
    return {segments: plain.map(withoutKeywords), doubts: [...doubts]};
  }
  let segments: Segment[] = [];
  try {
    segments = readTree(line, doubts);
  } catch {
    doubts.add(unclearReasons.syntax);
  }
  // After a syntax error the parser may have dropped the rest.
  if (doubts.has(unclearReasons.syntax)) segments = [...segments, ...unseen(plain, segments)];
  if (segments.length === 0) doubts.add(unclearReasons.empty);
  if (doubts.size > 0) return {segments, doubts: [...doubts]};
  if (fingerprint(segments) !== fingerprint(plain)) return {segments, doubts: [unclearReasons.twoReadings]};
  return {segments: plain.map((segment, i) => ({...segment, ...inputIn(segments[i])})), doubts: []};
}

function hasManyBrackets(line: string): boolean {
  let found = 0;
  for (let i = 0; i < line.length && found <= mostBrackets; i++) if ('({`'.includes(line.charAt(i))) found++;
  return found > mostBrackets;
}

interface Reached {
  node: SyntaxNode;
  source: string;
  input: Input;
}

function inputIn(read: {input?: Input} | undefined): {input?: Input} {
  return read?.input !== undefined && read.input.length > 0 ? {input: read.input} : {};
}

function readTree(line: string, doubts: Set<string>): Segment[] {
  const segments: Segment[] = [];
  // Scripts in escaped backticks have their own source, to which positions refer.
  const stack: Reached[] = [{node: parse(line), source: line, input: []}];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const {node} = top;
    const source = (node.type === 'Script' ? node.source : undefined) ?? top.source;
    const input = inputOf(node, top.input);
    addNodeDoubts(node, doubts);
    if (node.type === 'Command' && node.name) {
      const text = source.slice(node.pos, node.end);
      segments.push({argv: argvOf(node), source: text, operator: '', ...inputIn({input})});
    }
    const piped = node.type === 'Pipeline' ? pipedInputs(node, input) : undefined;
    const children: Reached[] = [];
    forEachChild(node, child => children.push({node: child, source, input: piped?.get(child) ?? input}));
    while (children.length > 0) stack.push(children.pop() as Reached);
  }
  return segments;
}

const nodeDoubts: Readonly<Partial<Record<SyntaxNode['type'], string>>> = {
  If: unclearReasons.compound,
  For: unclearReasons.compound,
  ArithmeticFor: unclearReasons.compound,
  Select: unclearReasons.compound,
  While: unclearReasons.compound,
  Subshell: unclearReasons.compound,
  BraceGroup: unclearReasons.compound,
  Case: unclearReasons.compound,
  TestCommand: unclearReasons.compound,
  ArithmeticCommand: unclearReasons.compound,
  Function: unclearReasons.compound,
  Coproc: unclearReasons.coproc,
  Time: unclearReasons.time,
  Negation: unclearReasons.negation,
  Redirect: unclearReasons.redirect,
  Redirected: unclearReasons.redirect,
  HereString: unclearReasons.redirect,
  HereDoc: unclearReasons.heredoc,
  Assignment: unclearReasons.assignment,
  Glob: unclearReasons.glob,
  ExtendedGlob: unclearReasons.glob,
  BraceExpansion: unclearReasons.brace,
  ProcessSubstitution: unclearReasons.redirect,
};

/** Node types that a line without doubts may contain. */
const plainNodes: ReadonlySet<SyntaxNode['type']> = new Set<SyntaxNode['type']>([
  ...(['Script', 'Statement', 'AndOr', 'Pipeline', 'Command'] as const),
  ...(['Word', 'Literal', 'SingleQuoted', 'DoubleQuoted'] as const),
]);

function addNodeDoubts(node: SyntaxNode, doubts: Set<string>): void {
  const why = nodeDoubts[node.type];
  if (why !== undefined) doubts.add(why);
  else if (!plainNodes.has(node.type) && doubts.size === 0) doubts.add(unclearReasons.twoReadings);
  if (node.type === 'Script' && node.errors && node.errors.length > 0) doubts.add(unclearReasons.syntax);
  if (node.type === 'Statement' && node.background) doubts.add(unclearReasons.background);
  if (node.type === 'Pipeline' && node.operators.includes('|&')) doubts.add(unclearReasons.redirect);
  if (node.type === 'Command' && !isPlainName(node.name))
    doubts.add(node.name ? unclearReasons.name : unclearReasons.empty);
}

function isPlainName(name: Word | undefined): boolean {
  return name !== undefined && name.text === name.value && /^[A-Za-z0-9_./][A-Za-z0-9_./+-]*$/.test(name.value);
}

function fingerprint(segments: readonly Segment[]): string {
  return JSON.stringify(segments.map(segment => segment.argv));
}

function unseen(plain: readonly Segment[], seen: readonly Segment[]): Segment[] {
  const known = new Set(seen.map(segment => JSON.stringify(segment.argv)));
  return plain.map(withoutKeywords).filter(segment => {
    const words = JSON.stringify(segment.argv);
    return !known.has(words) && known.add(words);
  });
}

const keywords: ReadonlySet<string> = new Set('{ } ! if then elif else fi while until do done time coproc'.split(' '));

/** The plain reader does not know keywords such as `then`; drop them to get the command. */
function withoutKeywords(segment: Segment): Segment {
  const from = segment.argv.findIndex(word => !keywords.has(word));
  return from > 0 ? {...segment, argv: segment.argv.slice(from)} : segment;
}
