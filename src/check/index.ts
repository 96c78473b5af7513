import {byPlace, nearest, type Problem, problem} from '../files/diagnostic.ts';
import {stemOf} from '../files/key.ts';
import {settingPlace} from '../files/settings.ts';
import {isId} from '../files/values.ts';
import {runPolicyTests} from '../policy/judge.ts';
import {isExternalTool, toolNamed, tools} from '../policy/tools.ts';
import {checkApprovals} from './approvals.ts';
import type {Home} from './home.ts';
import {agentHint, isAgent, type Names, namesOf} from './names.ts';
import {checkSessions} from './sessions.ts';
import {checkTasks} from './tasks.ts';

/** All problems of a home: of each file on its own, and across files. In the order of a compiler's output. */
export function checkHome(home: Home): Problem[] {
  const names = namesOf(home);
  return [
    ...home.problems,
    ...checkNames(home),
    ...checkTemplates(home),
    ...checkSettings(home, names),
    ...checkPolicy(home),
    ...checkTasks(home, names),
    ...checkSessions(home, names),
    ...checkApprovals(home, names),
  ].sort(byPlace);
}

/** What a file holds is known by its name, so the name must be an id. */
function checkNames(home: Home): Problem[] {
  return [...home.templates, ...home.sessions].flatMap(({path}) => {
    const stem = stemOf(path);
    if (isId(stem)) return [];
    return [
      problem(
        'BAD_ID',
        {line: 1, column: 1},
        `expected a file name of letters, digits, ".", "_" and "-", got "${stem}"`,
        'rename the file',
        path,
      ),
    ];
  });
}

function checkTemplates(home: Home): Problem[] {
  const problems: Problem[] = [];
  const seen = new Map<string, string>();
  for (const {path, file} of home.templates) {
    const id = stemOf(path);
    const other = seen.get(id);
    if (other)
      problems.push(
        problem(
          'DUPLICATE_ID',
          {line: 1, column: 1},
          `expected each agent once, found "${id}" also in ${other}`,
          'remove or rename one of the two',
          path,
        ),
      );
    seen.set(id, path);
    for (const {name, line, column} of file.capabilities) problems.push(...unknownTool(name, {line, column}, path));
  }
  return problems;
}

function unknownTool(name: string, place: {line: number; column: number}, path: string): Problem[] {
  if (toolNamed(name) || isExternalTool(name)) return [];
  const near = nearest(name, Object.keys(tools));
  return [
    problem(
      'UNKNOWN_TOOL',
      place,
      `unknown tool "${name}"; the agent is not offered it`,
      near ? `did you mean "${near}"?` : `known tools: ${Object.keys(tools).join(', ')}`,
      path,
    ),
  ];
}

function checkSettings(home: Home, names: Names): Problem[] {
  const {settings} = home;
  const value = settings?.file.value;
  if (!settings || !value) return [];
  const named: {name: string | undefined; at: (string | number)[]}[] = [
    {name: value.default_agent, at: ['default_agent']},
    ...(value.inbox?.routes ?? []).map((route, i) => ({name: route.to, at: ['inbox', 'routes', i, 'to']})),
    ...(value.schedules ?? []).map((schedule, i) => ({name: schedule.to, at: ['schedules', i, 'to']})),
  ];
  return named.flatMap(({name, at}) => {
    const agent = name?.replace(/^@/, '');
    if (agent === undefined || isAgent(agent, names)) return [];
    return [
      problem(
        'UNKNOWN_AGENT',
        settingPlace(settings.file, at),
        `expected a known agent, got "${name}"`,
        agentHint(agent, names),
        settings.path,
      ),
    ];
  });
}

function checkPolicy(home: Home): Problem[] {
  if (!home.policy || home.policy.file.problems.some(p => p.severity === 'error')) return [];
  const {path, file} = home.policy;
  const failed = runPolicyTests(file.policy).map(({test, got}) =>
    problem(
      'ALLOWLIST_TEST_FAILED',
      test.place,
      `expected "${test.expect}" for ${JSON.stringify(test.run)}, got "${got.verdict}": ${got.reasons.join('; ')}`,
      `see: agentdir policy explain ${JSON.stringify(test.run)}`,
      path,
    ),
  );
  const unknown = Object.keys(file.policy.tools)
    .filter(name => !/[*?]/.test(name))
    .flatMap(name => unknownTool(name, file.toolPlaces[name] ?? {line: 1, column: 1}, path));
  return [...failed, ...unknown];
}
