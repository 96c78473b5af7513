import {agentMentions} from '../formats/channel.ts';
import {inFile, type Problem, problem} from '../formats/common/diagnostic.ts';
import {kindOf, stemOf} from '../formats/common/key.ts';
import {instanceOf, type Run} from '../formats/run.ts';
import type {SpendLimits} from '../formats/session/spent.ts';
import {type Settings, settingPlace} from '../formats/settings.ts';
import type {TemplateValue} from '../formats/template.ts';
import {itemFacts, pageFacts, stateFacts} from './approval-facts.ts';
import {copySource} from './copied.ts';
import {credentialProblems} from './credentials.ts';
import {type AgentFact, type Facts, type Reference, unreadFacts} from './facts.ts';
import {instanceAgents, NATS_NAME} from './names.ts';
import {type ParsedFile, parseFile} from './parse-file.ts';
import {priceNames, unpricedNames} from './prices.ts';
import {problemsWithin} from './problems-within.ts';
import {detachStrings, type SessionFact, sessionFacts} from './session-facts.ts';
import {taskFacts} from './task-facts.ts';

/** Pure, and must not throw. The path must be a known kind of file. */
export function factsOf(path: string, text: string): Facts {
  const parsed = parseFile(path, text);
  if (!parsed) return unreadFacts(path, []);
  const facts = factsFrom(parsed);
  const found = credentialProblems(path, text);
  return found.length === 0 ? facts : {...facts, problems: [...facts.problems, ...found]};
}

/** The facts of a file that is parsed already. */
export function factsFrom(parsed: ParsedFile): Facts {
  const {path} = parsed;
  const facts: Facts = {
    kind: kindOf(path) ?? null,
    problems: inFile(path, [...(parsed.file?.problems ?? []), ...problemsWithin(parsed)]),
    defines: [],
    needs: [],
    counts: {},
    ...specific(parsed),
  };
  return facts.session && isPlain(facts, facts.session) ? facts : detachStrings(facts);
}

/** Whether a common session can skip `detachStrings`: its strings are detached already. */
function isPlain(
  {problems, needs, causes}: Facts,
  {segments, waits, waitingFor, child, children}: SessionFact,
): boolean {
  return (
    waitingFor === undefined &&
    child === undefined &&
    children === undefined &&
    causes === undefined &&
    problems.length + needs.length + segments.length + waits.length === 0
  );
}

function specific(parsed: ParsedFile): Partial<Facts> {
  const {kind, path} = parsed;
  switch (kind) {
    case 'template':
      // A template with an error still exists: its own problem is enough.
      return {
        defines: [`agent/${stemOf(path)}`],
        counts: {agents: 1},
        agent: agentFact(parsed.file.value),
        ...(parsed.file.value && {copySource: copySource(parsed.file.value)}),
        ...limitFacts(ownLimits(parsed.file.value?.limits)),
        ...(parsed.file.value?.limits?.max_cost_usd !== undefined && {costLimitAt: {line: 1, column: 1}}),
      };
    case 'workflow':
      return {
        defines: [
          `workflow/${stemOf(path)}`,
          ...Object.keys(parsed.file.value?.agents ?? {}).map(name => `member/${name}`),
        ],
      };
    case 'settings':
      return {
        defines: settingNames(parsed.file.value),
        refers: references(parsed.file),
        ...limitFacts(homeLimits(parsed.file.value?.limits ?? undefined)),
        ...(parsed.file.value?.limits?.per_day?.cost_usd !== undefined && {
          costLimitAt: settingPlace(parsed.file, ['limits', 'per_day', 'cost_usd']),
        }),
      };
    case 'run':
      return runFacts(path, parsed.file.value);
    case 'channel':
      return {defines: [`instance/${instanceOf(path)}`], ...mentionFacts(path, parsed.file)};
    case 'session':
      return sessionFacts(path, parsed.file);
    case 'checkpoint':
      return {defines: [`checkpoint/${path}`]};
    case 'tasks':
      return taskFacts(parsed.file);
    case 'queue':
      return {...itemFacts(path, parsed.file), ...stateFacts(parsed.file.items)};
    case 'approval':
      return pageFacts(path, parsed.file);
    case 'state':
      return parsed.file?.value ? {spend: parsed.file.value, defines: unpricedNames(parsed.file.value)} : {};
    case 'rejected':
      return rejectedFacts(parsed.file);
    case 'conflict':
      return {problems: [unmerged(path)]};
    default:
      return {};
  }
}

function agentFact(value: TemplateValue | undefined): AgentFact {
  const {type = null, description = null, model = 'default', ephemeral} = value ?? {};
  return {type, description, model: value ? model : null, ...(ephemeral === true && {ephemeral: true as const})};
}

function runFacts(path: string, run: Run | undefined): Partial<Facts> {
  const instance = instanceOf(path);
  if (!run || run.instance !== instance) return {defines: [`instance/${instance}`]};
  const {status, agents} = run;
  return {
    defines: [`instance/${instance}`, ...instanceAgents(run).map(name => `agent/${name}`)],
    run: {status, agents: Object.keys(agents)},
  };
}

/** How many mentions of a channel are checked: the last ones. */
const MOST_MENTIONS = 200;

/** Names that entries mention, to be checked against the agents of the instance. */
function mentionFacts(path: string, {entries}: Extract<ParsedFile, {kind: 'channel'}>['file']): Partial<Facts> {
  const instance = instanceOf(path);
  const mentions = entries.flatMap(({text, line}) =>
    agentMentions(text, [], instance).unknown.map(name => ({name, line, column: 1})),
  );
  return mentions.length > 0 ? {mentions: mentions.slice(-MOST_MENTIONS)} : {};
}

function settingNames(value: Settings | undefined): string[] {
  const people = (value?.people ?? []).map(name => `person/${name}`);
  const names = value ? [...people, ...priceNames(value)] : people;
  return value?.nats?.server === undefined ? names : [...names, NATS_NAME];
}

/** References to the missing agents of rejected lines. */
function rejectedFacts({entries}: Extract<ParsedFile, {kind: 'rejected'}>['file']): Partial<Facts> {
  const refers = entries.flatMap(({to, at_line}) => (to === undefined ? [] : [{name: to, line: at_line, column: 1}]));
  return refers.length > 0 ? {refers: refers.slice(0, MOST_REFERENCES)} : {};
}

const MOST_REFERENCES = 1_000;

function ownLimits({max_turns, max_tokens, max_cost_usd}: NonNullable<TemplateValue['limits']> = {}): AnyLimits {
  return {turns: max_turns, tokens: max_tokens, cost_usd: max_cost_usd};
}

function homeLimits(limits: NonNullable<Settings['limits']> = {}): AnyLimits {
  const {turns, tokens, cost_usd} = limits.per_day ?? {};
  const {sessions, tasks, messages} = limits.per_cause ?? {};
  return {
    ...{turns, tokens, cost_usd},
    ...{sessions, tasks, messages},
    hops: limits.agent_messages,
    requests: limits.open_requests,
    turns_per_work: limits.max_turns,
  };
}

type AnyLimits = {[K in keyof SpendLimits]: number | undefined};

function limitFacts(limits: AnyLimits): {limits?: SpendLimits} {
  const set = Object.entries(limits).filter(([, limit]) => limit !== undefined);
  return set.length > 0 ? {limits: Object.fromEntries(set) as SpendLimits} : {};
}

function references(file: Extract<ParsedFile, {kind: 'settings'}>['file']): Reference[] {
  const {value} = file;
  const named: [name: string | undefined, at: (string | number)[]][] = [
    [value?.default_agent, ['default_agent']],
    ...(value?.inbox?.routes ?? []).map((route, i): [string | undefined, (string | number)[]] => [
      route.to,
      ['inbox', 'routes', i, 'to'],
    ]),
    ...(value?.schedules ?? []).map((schedule, i): [string | undefined, (string | number)[]] => [
      schedule.to,
      ['schedules', i, 'to'],
    ]),
  ];
  const workflows = (value?.schedules ?? []).flatMap(({workflow = ''}, i): Reference[] => {
    // Other paths are of files that are not read until they are run.
    const [name] = /^(?:workflows\/[^/]+|[^/]+(?<!\.ya?ml))$/i.exec(workflow) ?? [];
    if (name === undefined) return [];
    return [
      {
        name: stemOf(`workflows/${name.replace(/^workflows\//, '')}`),
        isWorkflow: true,
        ...settingPlace(file, ['schedules', i, 'workflow']),
      },
    ];
  });
  const agents = named.flatMap(([name, at]) => (name === undefined ? [] : [{name, ...settingPlace(file, at)}]));
  return [...agents, ...workflows];
}

function unmerged(path: string): Problem {
  const isVoid = path.startsWith('conflicts/void/');
  return problem(
    'UNMERGED',
    {line: 1, column: 1},
    isVoid
      ? 'a change that does not count: it was made while a command ran outside the sandbox, which may have made it'
      : 'an edit that could not be merged is kept here',
    isVoid
      ? 'if you made it, make it again in the original file, then delete this file. agentdir log shows the command'
      : 'take over what you need, then delete this file',
    path,
  );
}
