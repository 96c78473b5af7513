import {z} from 'zod';
import {exit, UserError} from '../errors.ts';
import {parsePattern} from './address-pattern.ts';
import {type Place, type Problem, problem, refuseErrors} from './diagnostic.ts';
import {lineStarts} from './lines.ts';
import {nestsRepetition} from './pattern.ts';
import {emptyPolicy, type Policy, type PolicyTest, type Rule, type Verdict} from './rule.ts';
import {type PlaceFinder, validate} from './validate.ts';
import {editYaml} from './yaml-edit.ts';
import {placeOf, readYaml, type YamlSource} from './yaml-source.ts';

const verdict = z.enum(['allow', 'ask', 'deny']);

const ruleSchema = z.union([
  z.string(),
  z.looseObject({
    match: z.string().min(1),
    sandbox: z.enum(['host']).optional().describe('host: runs outside the sandbox.'),
    network: z.boolean().optional(),
    agents: z.array(z.string()).optional().describe('Globs over agent ids; without it, all agents.'),
  }),
]);

const rules = z.array(ruleSchema).nullable().optional();

const listSchema = z
  .looseObject({
    version: z.literal(1),
    commands: z.looseObject({allow: rules, ask: rules, deny: rules}).nullable().optional(),
    tools: z.record(z.string(), verdict).nullable().optional(),
    network: z
      .looseObject({allow: z.array(z.string()).optional()})
      .nullable()
      .optional(),
    tests: z
      .array(z.looseObject({run: z.string().max(16_384), expect: verdict, agent: z.string().optional()}))
      .nullable()
      .optional(),
  })
  .meta({title: 'Agentdir policy', description: 'allowlist.yaml: what agents may run without being asked'});

const flatSchema = z.record(
  z.string(),
  z.union([z.boolean(), z.null(), z.looseObject({approve: z.boolean(), matchCommandLine: z.boolean().optional()})]),
);

/** Both forms, for schemas/allowlist.json. */
export const allowlistSchema = z.union([listSchema, flatSchema]).meta({title: 'Agentdir policy'});

export interface AllowlistFile {
  text: string;
  form: 'list' | 'flat';
  /** What holds; with errors, the empty policy, by which everything asks. */
  policy: Policy;
  problems: Problem[];
  /** Where each key of `tools:` stands. */
  toolPlaces: Readonly<Record<string, Place>>;
}

/** Every test is judged by every rule. */
const MOST = 2_000;

const EMPTY_HINT = 'write "version: 1" and "commands:" with allow, ask and deny';

/** Must not throw. */
export function parseAllowlist(text: string): AllowlistFile {
  const source = readYaml(text);
  const starts = lineStarts(text);
  const at: PlaceFinder = (path, what) => placeOf(source, path, starts, what);
  const value = source.value as Record<string, unknown> | null | undefined;
  const keys = value && typeof value === 'object' && !Array.isArray(value) ? Object.keys(value) : [];
  const listed =
    keys.length === 0 || ['version', 'commands', 'tools', 'network', 'tests'].some(key => keys.includes(key));
  const file = listed ? readList(source, at) : readFlat(source, at);
  const failed = file.problems.some(p => p.severity === 'error');
  const toolPlaces = Object.fromEntries(Object.keys(file.policy.tools).map(name => [name, at(['tools', name], 'key')]));
  return {
    text,
    form: listed ? 'list' : 'flat',
    policy: failed ? emptyPolicy : file.policy,
    problems: file.problems,
    toolPlaces,
  };
}

interface Read {
  policy: Policy;
  problems: Problem[];
}

function readList(source: YamlSource, at: PlaceFinder): Read {
  const {value, problems} = validate(listSchema, source, EMPTY_HINT);
  if (!value) return {policy: emptyPolicy, problems};
  const flat = Object.entries(value).find(
    ([, item]) => typeof item === 'boolean' || (item !== null && typeof item === 'object' && 'approve' in item),
  );
  if (flat)
    problems.push(
      problem(
        'MIXED_FORMS',
        at([flat[0]], 'key'),
        `expected one form of allowlist, found "${flat[0]}" beside "version" or "commands"`,
        `move it under "commands:", as allow: ["${flat[0]} *"]`,
      ),
    );
  const size = Math.max(
    (value.tests ?? []).length,
    ...Object.values(value.commands ?? {}).map(list => (Array.isArray(list) ? list.length : 0)),
  );
  if (size > MOST) {
    problems.push(
      problem(
        'FILE_TOO_LARGE',
        at([]),
        `expected at most ${MOST} rules or tests in a list, found ${size}`,
        'write fewer, wider rules',
      ),
    );
    return {policy: emptyPolicy, problems};
  }
  const found: Rule[] = [];
  for (const kind of ['deny', 'ask', 'allow'] as const) {
    for (const [i, item] of (value.commands?.[kind] ?? []).entries()) {
      const place = at(['commands', kind, i]);
      const {match, sandbox, network, agents} =
        typeof item === 'string'
          ? {match: item}
          : (item as {match: string; sandbox?: 'host'; network?: boolean; agents?: string[]});
      const rule = makeRule(match, kind, place, problems);
      if (rule)
        found.push({
          ...rule,
          ...(sandbox && {sandbox}),
          ...(network && {network: true as const}),
          ...(agents && {agents}),
        });
    }
  }
  const addresses = value.network?.allow ?? [];
  for (const [i, text] of addresses.entries()) {
    const pattern = parsePattern(text);
    if ('wrong' in pattern)
      problems.push(
        problem(
          'BAD_PATTERN',
          at(['network', 'allow', i]),
          `${pattern.wrong}, in ${JSON.stringify(text)}`,
          'write it as "https://docs.example.com/**" or "https://*.example.com/guide/*"',
        ),
      );
  }
  const tests: PolicyTest[] = (value.tests ?? []).map((test, i) => ({
    run: test.run,
    expect: test.expect,
    ...(test.agent && {agent: test.agent}),
    place: at(['tests', i]),
  }));
  return {
    policy: {rules: found, tools: value.tools ?? {}, network: {allow: addresses}, tests},
    problems,
  };
}

/** Words separated by white space; quotes keep white space in one word. */
function makeRule(match: string, kind: Verdict, place: Place, problems: Problem[]): Rule | undefined {
  const words = splitWords(match);
  if (!words || words.length === 0) {
    problems.push(
      problem(
        'BAD_RULE',
        place,
        `expected words such as "git log *", got ${JSON.stringify(match)}`,
        words ? 'name at least the command' : 'close the quotes',
      ),
    );
    return undefined;
  }
  if (kind === 'allow' && /[*?[\]]/.test(words[0] ?? '')) {
    problems.push(
      problem(
        'BAD_RULE',
        place,
        `expected an allow rule to name its command, got ${JSON.stringify(match)}`,
        'write the command out; a rule that allows any command is no policy',
      ),
    );
    return undefined;
  }
  const open = words.length > 1 && words.at(-1) === '*';
  return {verdict: kind, match, words: open ? words.slice(0, -1) : words, open, place};
}

export function splitWords(text: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (const char of text) {
    if (quote !== undefined) {
      if (char === quote) quote = undefined;
      else word = (word ?? '') + char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + char;
  }
  if (word !== undefined) words.push(word);
  return quote === undefined ? words : undefined;
}

/** The flat form: `ls: true` covers ls with any arguments, never lsof; `false` denies; a pattern `/…/` never allows. */
function readFlat(source: YamlSource, at: PlaceFinder): Read {
  const {value, problems} = validate(flatSchema, source, EMPTY_HINT);
  const found: Rule[] = [];
  for (const [pattern, item] of Object.entries(value ?? {})) {
    if (item === null) continue;
    const approve = typeof item === 'boolean' ? item : item.approve;
    const whole = typeof item === 'object' && item.matchCommandLine === true ? {wholeLine: true as const} : {};
    const place = at([pattern]);
    const regex = /^\/(.*)\/([a-z]*)$/s.exec(pattern);
    if (regex) {
      const compiled = compile(regex[1] ?? '', regex[2] ?? '', place, problems);
      if (compiled)
        found.push({
          verdict: approve ? 'ask' : 'deny',
          match: pattern,
          words: [],
          open: false,
          pattern: compiled,
          ...whole,
          place,
        });
      continue;
    }
    const rule = makeRule(pattern, approve ? 'allow' : 'deny', place, problems);
    if (rule) found.push({...rule, open: true, ...whole});
  }
  return {policy: {...emptyPolicy, rules: found}, problems};
}

/** A pattern is matched against what an agent wrote, so one that can take exponential time is refused. */
function compile(source: string, flags: string, place: Place, problems: Problem[]): RegExp | undefined {
  if (!nestsRepetition(source)) {
    try {
      return new RegExp(source, flags.replace(/[gy]/g, ''));
    } catch (error) {
      problems.push(
        problem(
          'BAD_PATTERN',
          place,
          `expected a regular expression: ${(error as Error).message}`,
          'mend it, or write words such as "git log *"',
        ),
      );
      return undefined;
    }
  }
  problems.push(
    problem(
      'BAD_PATTERN',
      place,
      'expected a pattern without a repetition inside a repetition, such as (a+)+',
      'write words such as "git log *" instead',
    ),
  );
  return undefined;
}

/** The text with one more rule at the end of its list; `comment` says where it came from. */
export function addRule(text: string, kind: Verdict, match: string, comment?: string): string {
  const file = parseAllowlist(text);
  refuseErrors(file.problems);
  if (file.form === 'list')
    return editYaml(text, {append: ['commands', kind], item: match, ...(comment === undefined ? {} : {comment})});
  const words = match.replace(/ \*$/, '');
  if (kind === 'ask' || words === match) {
    throw new UserError(
      `the flat form of allowlist.yaml cannot say ${kind} "${match}"`,
      exit.badFile,
      'rewrite it with "version: 1" and "commands:"',
    );
  }
  return editYaml(text, {set: [words], to: kind === 'allow'});
}

export function stringifyAllowlist(file: AllowlistFile): string {
  return file.text;
}
