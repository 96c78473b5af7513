import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {parseAllowlist} from '../../src/formats/allowlist.ts';
import {addRules} from '../../src/formats/allowlist-edit.ts';
import {UserError} from '../../src/formats/common/errors.ts';
import type {NewRule} from '../../src/formats/rule.ts';
import {ruleText, splitWords} from '../../src/formats/rule-text.ts';
import {isLiteral, strictMatch} from '../../src/policy/command/words.ts';
import {judge} from '../../src/policy/judge.ts';
import {linesOf, part, runs} from '../arbitrary.ts';
import {root} from '../cli/run.ts';

const comment = 'approval 8228eefd, 2026-11-16';
const mark = `# ${comment}`;

/** `longer` is `shorter` with something put in between. */
function onlyAdds(shorter: string, longer: string): boolean {
  let at = 0;
  for (const char of longer) if (char === shorter[at]) at++;
  return at >= shorter.length;
}

describe('addRules', () => {
  const own: NewRule = {match: 'docker restart redis', agents: ['ops-1'], sandbox: 'host', network: true};
  const page: NewRule = {address: 'https://example.com/a'};

  it.each([
    ['block lists', 'version: 1\ncommands:\n  allow:\n    - "ls *" # mine\nnetwork:\n  allow:\n  - https://x.org/**\n'],
    ['flow lists', 'version: 1\ncommands: {allow: ["ls *"]} # mine\nnetwork: {allow: ["https://x.org/**"]}\n'],
    ['flow lists on lines', 'version: 1\ncommands:\n  allow: [\n    "ls *", # mine\n    "pwd",\n  ]\n'],
    ['empty lists', 'version: 1\ncommands:\n  allow: []\n  deny: [rm]\nnetwork: {allow: [ ]}\n'],
    ['no lists', 'version: 1\n# mine\n'],
    ['empty keys', 'version: 1\ncommands: # mine\nnetwork:\n'],
    ['no newline at the end', 'commands:\n  allow:\n    - ls\nversion: 1'],
    ['a file that is one map', '{version: 1, commands: {allow: [ls], deny: [rm]}}'],
    ['the shipped file', readFileSync(join(root, 'allowlist.yaml'), 'utf8')],
  ])('%s keep the rest, with either line end, and the comment is there', (_, lf) => {
    for (const text of [lf, lf.replaceAll('\n', '\r\n'), `\ufeff${lf}`]) {
      const edited = addRules(text, [own, page], comment);
      const {policy, problems} = parseAllowlist(edited);
      expect(problems).toEqual([]);
      expect(judge('docker restart redis', policy, {agent: 'ops-1'})).toMatchObject({
        verdict: 'allow',
        segments: [{sandbox: 'host', network: true}],
      });
      expect(judge('docker restart redis', policy, {agent: 'other'}).verdict).toBe('ask');
      expect(policy.network.allow.at(-1)).toBe('https://example.com/a');
      expect(edited.split(/\r?\n/).filter(line => line.trim() === mark)).toHaveLength(2);
      expect(edited.replaceAll('\r\n', '').includes('\n')).toBe(!text.includes('\r'));
      // Once is enough.
      expect(addRules(edited, [page, own], comment)).toBe(edited);
    }
  });

  it('writes a rule without more to say as its words, and a block list as a person would', () => {
    expect(addRules('version: 1\ncommands:\n  allow:\n    - ls\n', [{match: 'df -h'}], comment)).toBe(
      `version: 1\ncommands:\n  allow:\n    - ls\n    ${mark}\n    - df -h\n`,
    );
    expect(addRules('version: 1\ncommands: {allow: [ls]}\n', [{match: 'df -h'}], comment)).toBe(
      `version: 1\ncommands: {allow: [ls,\n    ${mark}\n    "df -h"]}\n`,
    );
  });

  it.each([
    ['ls: true\n', /flat form/],
    ['version: 2\n', /./],
    ['version: 1\nlist: &a [ls]\ncommands: {allow: *a}\n', /without touching/],
  ])('refuses %j', (text, why) => {
    const add = () => addRules(text, [own], comment);
    expect(add).toThrow(UserError);
    expect(add).toThrow(why);
  });

  it('adds nothing but the rule and its comment to any file, or refuses', () => {
    const files = linesOf(
      [
        'version: 1',
        'commands:',
        'commands: {}',
        '  allow:',
        '  allow: ["ls *"] # mine',
        '  allow: []',
        '  allow: ~',
        '    - ls # mine',
        '    - match: pwd',
        '      agents: [a]',
        '  ask:',
        '    # between',
        '  deny: [rm]',
        'network: {allow: []}',
        'tools: {fetch: ask}',
        '# end',
        '',
      ],
      9,
    ).map(lines => `version: 1\n${lines.replace(/^\ufeff/, '').replaceAll('version: 1', '')}`);
    let added = 0;
    fc.assert(
      fc.property(files, fc.constantFrom<NewRule>(own, page, {match: "echo '[*]' \"it's\""}), (text, rule) => {
        const before = parseAllowlist(text);
        let edited: string;
        try {
          edited = addRules(text, [rule], comment);
        } catch (error) {
          expect(error).toBeInstanceOf(UserError);
          return;
        }
        added++;
        const {policy, problems} = parseAllowlist(edited);
        expect(problems.filter(({severity}) => severity === 'error')).toEqual([]);
        const count = (of: typeof policy) => of.rules.length + of.network.allow.length;
        expect(count(policy)).toBe(count(before.policy) + 1);
        expect(edited.split(mark)).toHaveLength(2);
        expect(onlyAdds(text.replace(/\[\]|~/g, ''), edited)).toBe(true);
      }),
      runs(600),
    );
    expect(added).toBeGreaterThan(part(100));
  });
});

describe('the text of a rule', () => {
  const word = fc.oneof(
    fc.string({maxLength: 8}),
    fc
      .array(fc.constantFrom('*', '?', '[', ']', '\\', "'", '"', ' ', '/', '.', '!', '-', 'a', '{', '**', '+('), {
        maxLength: 6,
      })
      .map(parts => parts.join('')),
  );

  it('means these words and no others, globs in them included', () => {
    fc.assert(
      fc.property(fc.array(word, {maxLength: 4}), word, (args, other) => {
        const match = ruleText(['cmd', ...args]);
        const words = splitWords(match ?? '');
        expect(words).toHaveLength(args.length + 1);
        expect(words?.at(-1)).not.toBe('*');
        for (const [i, arg] of args.entries()) {
          const written = words?.[i + 1] ?? '';
          const near = [other, arg + other, arg.replace(/[*?[\]\\]/, other), arg.slice(1), `${arg}/`];
          for (const given of near)
            if (given !== arg) expect(strictMatch(written, given), `${written} ${given}`).toBe(false);
          expect(strictMatch(written, arg), written).toBe(true);
          expect(isLiteral(written)).toBe(true);
        }
      }),
      runs(800),
    );
  });

  it('there is none for a command whose name has globs', () => {
    expect(ruleText(['l*', 'x'])).toBeUndefined();
    expect(ruleText([])).toBeUndefined();
  });
});
