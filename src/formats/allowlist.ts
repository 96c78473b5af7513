import {z} from 'zod';
import {parsePattern} from './address-pattern.ts';
import {EMPTY_HINT, flatSchema, type ReadPolicy, readFlat} from './allowlist-flat.ts';
import {type Place, type Problem, problem} from './common/diagnostic.ts';
import {lineStarts} from './common/lines.ts';
import {emptyPolicy, type Policy, type PolicyTest, type Rule, type ToolRule} from './rule.ts';
import {makeRule} from './rule-text.ts';
import {type PlaceFinder, validate} from './yaml/validate.ts';
import {readQuickly} from './yaml/yaml-quick.ts';
import {placeOfValue, type YamlSource} from './yaml/yaml-source.ts';

const verdict = z.enum(['allow', 'ask', 'deny']);

const ruleSchema = z.union([
  z.string(),
  z.looseObject({
    match: z.string().min(1),
    sandbox: z.enum(['host']).optional().describe('host: runs outside the sandbox.'),
    network: z.boolean().optional(),
    any_options: z
      .boolean()
      .optional()
      .describe('A * covers any option and operand, not only those known to be harmless; in the sandbox only.'),
    agents: z.array(z.string()).optional().describe('Globs over agent ids; without it, all agents.'),
  }),
]);

type WrittenRule = Exclude<z.infer<typeof ruleSchema>, string>;

const toolRuleSchema = z.looseObject({
  match: z.string().min(1).describe('The name of a tool, an alias, or a glob over names.'),
  paths: z.array(z.string().min(1)).min(1).optional().describe('Globs over paths of the workspace: src/**.'),
  agents: z.array(z.string()).min(1).optional().describe('Globs over agent ids; without it, all agents.'),
  verdict,
});

const line = z.string().max(16_384);

const testSchema = z.union([
  z.looseObject({run: z.union([line, z.array(line)]), expect: verdict, agent: z.string().optional()}),
  z.looseObject({tool: z.string(), path: z.string().optional(), expect: verdict, agent: z.string().optional()}),
]);

const rules = z.array(ruleSchema).nullable().optional();

const listSchema = z
  .looseObject({
    version: z.literal(1),
    commands: z.looseObject({allow: rules, ask: rules, deny: rules}).nullable().optional(),
    tools: z
      .union([z.record(z.string(), verdict), z.array(toolRuleSchema)])
      .nullable()
      .optional(),
    network: z
      .looseObject({allow: z.array(z.string()).optional()})
      .nullable()
      .optional(),
    tasks: z
      .looseObject({
        change_human: z
          .enum(['allow', 'deny'])
          .optional()
          .describe(
            'Whether agents may change title, prompt, assignee and conditions of a task that a person created.',
          ),
        change_waiting: z
          .enum(['allow', 'deny'])
          .optional()
          .describe('Whether agents may change, start or end a task whose start waits for approval.'),
      })
      .nullable()
      .optional()
      .describe('What agents may do to tasks of persons: nothing of this if left out.'),
    tests: z.array(testSchema).nullable().optional(),
  })
  .meta({title: 'Agentdir policy', description: 'allowlist.yaml: what agents may run without being asked'});

/** Both forms, for schemas/allowlist.json. */
export const allowlistSchema = z.union([listSchema, flatSchema]).meta({title: 'Agentdir policy'});

export interface AllowlistFile {
  text: string;
  form: 'list' | 'flat';
  /** The effective policy; with errors the empty policy, under which everything asks. */
  policy: Policy;
  problems: Problem[];
  toolPlaces: Readonly<Record<string, Place>>;
}

/** Limit on rules and tests, because every rule judges every test. */
const MAX_SIZE = 2_000;

/** Must not throw. */
export function parseAllowlist(text: string): AllowlistFile {
  const source = readQuickly(text);
  const starts = lineStarts(text);
  const at: PlaceFinder = (path, what) => placeFoundLater(() => placeOfValue(source, path, starts, what));
  const value = source.value as Record<string, unknown> | null | undefined;
  const keys = value && typeof value === 'object' && !Array.isArray(value) ? Object.keys(value) : [];
  const listed =
    keys.length === 0 || ['version', 'commands', 'tools', 'network', 'tests'].some(key => keys.includes(key));
  const file = listed ? readList(source, at) : readFlat(source, at);
  const failed = file.problems.some(p => p.severity === 'error');
  const toolPlaces = Object.fromEntries([
    ...Object.keys(file.policy.tools).map(name => [name, at(['tools', name], 'key')] as const),
    ...(file.policy.toolRules ?? []).map(({match, place}) => [match, place] as const),
  ]);
  return {
    text,
    form: listed ? 'list' : 'flat',
    policy: failed ? emptyPolicy : file.policy,
    problems: file.problems,
    toolPlaces,
  };
}

/** Rules and tests need their places only in messages, and finding the first costs more than reading the file. */
function placeFoundLater(find: () => Place): Place {
  let found: Place | undefined;
  const place = () => (found ??= find());
  return {
    get line() {
      return place().line;
    },
    get column() {
      return place().column;
    },
  };
}

function readList(source: YamlSource, at: PlaceFinder): ReadPolicy {
  const {value, problems: checked} = validate(listSchema, source, EMPTY_HINT);
  if (!value) return {policy: emptyPolicy, problems: checked};
  const flat = Object.entries(value).find(
    ([, item]) => typeof item === 'boolean' || (item !== null && typeof item === 'object' && 'approve' in item),
  );
  // Of two forms, the keys of one are unknown to the other.
  const problems = flat ? checked.filter(({code}) => code !== 'NO_EFFECT') : checked;
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
    (value.tests ?? []).flatMap(({run}) => run).length,
    Array.isArray(value.tools) ? value.tools.length : 0,
    ...Object.values(value.commands ?? {}).map(list => (Array.isArray(list) ? list.length : 0)),
  );
  if (size > MAX_SIZE) {
    problems.push(
      problem(
        'FILE_TOO_LARGE',
        at([]),
        `expected at most ${MAX_SIZE} rules or tests in a list, found ${size}`,
        'write fewer, wider rules',
      ),
    );
    return {policy: emptyPolicy, problems};
  }
  const found: Rule[] = [];
  for (const kind of ['deny', 'ask', 'allow'] as const) {
    for (const [i, item] of (value.commands?.[kind] ?? []).entries()) {
      const place = at(['commands', kind, i]);
      const {match, sandbox, network, any_options, agents} =
        typeof item === 'string' ? {match: item} : (item as WrittenRule);
      if (any_options && (kind !== 'allow' || sandbox === 'host'))
        problems.push(
          problem(
            'BAD_RULE',
            place,
            `expected any_options only on an allow rule for the sandbox, got it ${kind === 'allow' ? 'beside sandbox: host' : `on ${kind === 'ask' ? 'an ask' : 'a deny'} rule`}`,
            'remove any_options, or spell out the words that may run on the host',
          ),
        );
      const rule = makeRule(match, kind, place, problems);
      if (rule)
        found.push({
          ...rule,
          ...(sandbox && {sandbox}),
          ...(network && {network: true as const}),
          ...(any_options && kind === 'allow' && sandbox !== 'host' && {anyOptions: true as const}),
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
  const tests = (value.tests ?? []).flatMap((test, i) => readTests(test, index => at(['tests', i, ...index])));
  const {tools} = value;
  return {
    policy: {
      rules: found,
      tools: tools && !Array.isArray(tools) ? tools : {},
      ...(Array.isArray(tools) && {toolRules: tools.map((rule, i) => readToolRule(rule, at(['tools', i]), problems))}),
      network: {allow: addresses},
      ...(value.tasks && {tasks: {change_human: value.tasks.change_human, change_waiting: value.tasks.change_waiting}}),
      tests,
    },
    problems,
  };
}

function readTests(written: z.infer<typeof testSchema>, at: (index: (string | number)[]) => Place): PolicyTest[] {
  const {expect, agent, run} = written;
  const common = {expect, ...(agent && {agent})};
  if (Array.isArray(run)) return run.map((line, n) => ({run: String(line), ...common, place: at(['run', n])}));
  const place = at([]);
  if (run !== undefined) return [{run: String(run), ...common, place}];
  const tool = String(written.tool);
  const path = typeof written.path === 'string' ? written.path : undefined;
  const words = path === undefined ? tool : `${tool} ${path}`;
  return [{run: words, tool, ...(path !== undefined && {path}), ...common, place}];
}

/** Patterns that other programs know: as a deny rule, one would silently deny nothing. */
const UNUSUAL = /[{}]|[@!+*?]\(|^!|\*\*[^/]|[^/]\*\*|\[[^\]]*\/|(?<!\[)\[\^?\]|^\s|\s$/;

function readToolRule(written: z.infer<typeof toolRuleSchema>, place: Place, problems: Problem[]): ToolRule {
  const {match, paths, agents, verdict} = written;
  const wrong = paths?.find(path => /^[/~]|\\|(?:^|\/)\.\.(?:\/|$)/.test(path) || UNUSUAL.test(path));
  if (wrong !== undefined)
    problems.push(
      problem(
        'BAD_RULE',
        place,
        `expected a path below the workspace such as "src/**", got ${JSON.stringify(wrong)}`,
        'write it relative to the workspace, with *, ? and ** as a whole folder; no "..", braces or other patterns',
      ),
    );
  return {match, verdict, ...(paths && {paths}), ...(agents && {agents}), place};
}

export function stringifyAllowlist(file: AllowlistFile): string {
  return file.text;
}
