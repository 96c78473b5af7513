import {z} from 'zod';
import {type Place, type Problem, problem} from './common/diagnostic.ts';
import {nestsRepetition} from './pattern.ts';
import {emptyPolicy, type Policy, type Rule} from './rule.ts';
import {makeRule} from './rule-text.ts';
import {type PlaceFinder, validate} from './yaml/validate.ts';
import type {YamlSource} from './yaml/yaml-source.ts';

export const flatSchema = z.record(
  z.string(),
  z.union([z.boolean(), z.null(), z.looseObject({approve: z.boolean(), matchCommandLine: z.boolean().optional()})]),
);

export const EMPTY_HINT = 'write "version: 1" and "commands:" with allow, ask and deny';

export interface ReadPolicy {
  policy: Policy;
  problems: Problem[];
}

/** Read the flat form: `ls: true` covers ls with any arguments, never lsof; `false` denies; `/…/` never allows. */
export function readFlat(source: YamlSource, at: PlaceFinder): ReadPolicy {
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

/** Refuse patterns that can take exponential time, because agents write the text to be matched. */
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
          'fix it, or write words such as "git log *"',
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
