import {inFile, type Problem, problem} from '../files/diagnostic.ts';
import {kindOf, stemOf} from '../files/key.ts';
import {settingPlace} from '../files/settings.ts';
import {itemFacts, pageFacts} from './approval-facts.ts';
import {type Facts, type Reference, unreadFacts} from './facts.ts';
import {ownProblems} from './own-problems.ts';
import {type ParsedFile, parseFile} from './parse-file.ts';
import {sessionFacts} from './session-facts.ts';
import {taskFacts} from './task-facts.ts';

/** Pure, and must not throw. The file must be one of ours. */
export function factsOf(path: string, text: string): Facts {
  const parsed = parseFile(path, text);
  return parsed ? factsFrom(parsed) : unreadFacts(path, []);
}

/** The facts of a file that is parsed already. */
export function factsFrom(parsed: ParsedFile): Facts {
  const {path} = parsed;
  const facts: Facts = {
    kind: kindOf(path) ?? null,
    problems: inFile(path, [...(parsed.file?.problems ?? []), ...ownProblems(parsed)]),
    defines: [],
    needs: [],
    counts: {},
    ...specific(parsed),
  };
  // The copy has strings of its own. Those that were cut from the text would keep the whole of it in memory.
  return JSON.parse(JSON.stringify(facts)) as Facts;
}

function specific(parsed: ParsedFile): Partial<Facts> {
  const {kind, path} = parsed;
  switch (kind) {
    case 'template':
      // A template with an error still exists: its own problem is enough.
      return {defines: [`agent/${stemOf(path)}`], counts: {agents: 1}};
    case 'workflow':
      return {defines: Object.keys(parsed.file.value?.agents ?? {}).map(name => `member/${name}`)};
    case 'settings':
      return {refers: references(parsed.file)};
    case 'session':
      return sessionFacts(path, parsed.file);
    case 'tasks':
      return taskFacts(parsed.file);
    case 'queue':
      return itemFacts(parsed.file.items);
    case 'approval':
      return pageFacts(path, parsed.file);
    case 'conflict':
      return {problems: [unmerged(path)]};
    default:
      return {};
  }
}

function references(file: Extract<ParsedFile, {kind: 'settings'}>['file']): Reference[] {
  const {value} = file;
  const named: [name: string | undefined, at: (string | number)[]][] = [
    [value?.default_agent, ['default_agent']],
    ...(value?.inbox?.routes ?? []).map((route, i): [string, (string | number)[]] => [
      route.to,
      ['inbox', 'routes', i, 'to'],
    ]),
    ...(value?.schedules ?? []).map((schedule, i): [string, (string | number)[]] => [
      schedule.to,
      ['schedules', i, 'to'],
    ]),
  ];
  return named.flatMap(([name, at]) => (name === undefined ? [] : [{name, ...settingPlace(file, at)}]));
}

function unmerged(path: string): Problem {
  return problem(
    'UNMERGED',
    {line: 1, column: 1},
    'an edit that could not be merged is kept here',
    'take over what you need, then delete this file',
    path,
  );
}
