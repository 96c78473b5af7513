import {createHash} from 'node:crypto';
import {nearest, type Place, type Problem, problem} from '../formats/common/diagnostic.ts';
import {stemOf} from '../formats/common/key.ts';
import {isId} from '../formats/common/values.ts';
import {instanceOf} from '../formats/run.ts';
import {isKnownBackend} from '../formats/workflow.ts';
import {runPolicyTests} from '../policy/judge.ts';
import {SHIPPED_POLICY} from '../policy/shipped-policy.ts';
import {pathUse} from '../policy/tool-paths.ts';
import {isExternalTool, toolNamed, tools} from '../policy/tools.ts';
import type {FileOf, ParsedFile} from './parse-file.ts';
import {unpricedModels} from './prices.ts';
import {historyProblems} from './session-history.ts';

/** Problems of a single file beyond those of its parser: name, tools, policy tests, history. */
export function problemsWithin(parsed: ParsedFile): Problem[] {
  switch (parsed.kind) {
    case 'template':
      return [
        ...fileName(parsed.path),
        ...parsed.file.capabilities.flatMap(({name, line, column}) => missingTool(name, {line, column})),
      ];
    case 'settings':
      return unpricedModels(parsed.file);
    case 'policy':
      return policyProblems(parsed.file);
    case 'session':
      return fileName(parsed.path).concat(historyProblems(parsed.path, parsed.file));
    case 'approval':
      return pageName(parsed);
    case 'workflow':
      return workflowProblems(parsed);
    case 'run':
      return instanceName(parsed);
    default:
      return [];
  }
}

/** The file name identifies the content, so it must be a valid id. */
function fileName(path: string): Problem[] {
  const stem = stemOf(path);
  if (isId(stem)) return [];
  const message = `expected a file name of letters, digits, ".", "_" and "-", got "${stem}"`;
  return [problem('BAD_ID', {line: 1, column: 1}, message, 'rename the file')];
}

const known = Object.keys(tools);

/** Unknown tools are errors here: nobody watches the first turns of a team. An unknown backend is one when the workflow is run. */
function workflowProblems({file}: FileOf<'workflow'>): Problem[] {
  const {value, placeOf} = file;
  return Object.entries(value?.agents ?? {}).flatMap(([name, agent]) => {
    const tools = (agent.tools ?? []).flatMap((tool, i) => wrongTool(tool, placeOf(['agents', name, 'tools', i])));
    if (isKnownBackend(agent)) return tools;
    const backend = JSON.stringify(agent.backend);
    const message = `expected a known backend of ${name}, got ${backend}; the workflow cannot be run`;
    const hint = 'remove it to run the agent here, or use one of: sdk, claude, codex, opencode, gemini';
    return [...tools, problem('UNKNOWN_BACKEND', placeOf(['agents', name, 'backend']), message, hint)];
  });
}

function wrongTool(name: string, place: Place): Problem[] {
  return missingTool(name, place).map(found => {
    if (found.code !== 'UNKNOWN_TOOL') return found;
    return problem('NO_SUCH_TOOL', place, `expected a known tool, got "${name}"`, found.hint);
  });
}

/** The folder names the instance. */
function instanceName({path, file}: FileOf<'run'>): Problem[] {
  const named = file.value?.instance;
  const folder = instanceOf(path);
  if (named === undefined || named === folder) return [];
  const message = `expected the instance "${folder}" as in the folder's name, got "${named}"`;
  return [problem('NAME_MISMATCH', {line: 1, column: 1}, message, `write "instance: ${folder}"`)];
}

/** A tool that models are not offered. */
function missingTool(name: string, place: Place): Problem[] {
  if (toolNamed(name) !== undefined) return [];
  if (isExternalTool(name))
    return [
      problem(
        'NO_EFFECT',
        place,
        `"${name}" has no effect: this version does not connect to MCP servers`,
        'leave it for a later version, or remove it',
      ),
    ];
  const near = nearest(name, known);
  return [
    problem(
      'UNKNOWN_TOOL',
      place,
      `unknown tool "${name}"; the agent is not offered it`,
      near ? `did you mean "${near}"?` : `known tools: ${known.join(', ')}`,
    ),
  ];
}

/** Whether this is the shipped policy, whose tests need not run again: they are a third of the first start of a home. */
function passes(text: string): boolean {
  return createHash('sha256').update(text).digest('hex') === SHIPPED_POLICY;
}

function policyProblems(file: FileOf<'policy'>['file']): Problem[] {
  if (file.problems.some(p => p.severity === 'error')) return [];
  const failed = (passes(file.text) ? [] : runPolicyTests(file.policy)).map(({test, got}) =>
    problem(
      'ALLOWLIST_TEST_FAILED',
      test.place,
      `expected "${test.expect}" for ${JSON.stringify(test.run)}, got "${got.verdict}": ${got.reasons.join('; ')}`,
      `see: agentdir policy explain ${test.tool === undefined ? JSON.stringify(test.run) : `--tool ${test.run}`}`,
    ),
  );
  const {tools: map, toolRules = [], tests} = file.policy;
  const named = [...Object.keys(map), ...toolRules.map(({match}) => match)];
  const unknown = [...new Set(named)]
    .filter(name => !/[*?]/.test(name))
    .flatMap(name => missingTool(name, file.toolPlaces[name] ?? {line: 1, column: 1}));
  for (const {tool, place} of tests) if (tool !== undefined) unknown.push(...missingTool(tool, place));
  const pathless = toolRules
    .filter(({match, paths}) => paths && toolNamed(match) && pathUse(match) === undefined)
    .map(({match, place}) =>
      problem(
        'BAD_RULE',
        place,
        `expected paths only for tools that take a path, got them for ${match}`,
        'remove paths; rules for commands stand under commands:',
      ),
    );
  return [...failed, ...unknown, ...pathless];
}

function pageName({path, file}: FileOf<'approval'>): Problem[] {
  const stem = stemOf(path);
  if (!path.startsWith('approvals/pending/') || file.id === undefined || file.id === stem) return [];
  return [
    problem(
      'NAME_MISMATCH',
      {line: 1, column: 1},
      `expected the id "${stem}" as in the file name, got "${file.id}"`,
      'restore the title or the file name',
    ),
  ];
}
