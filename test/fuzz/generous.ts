import {parseAllowlist} from '../../src/formats/allowlist.ts';
import type {Policy} from '../../src/formats/rule.ts';

const words = (text: string): string[] => text.split(/\s+/).filter(Boolean);

/** Programs that do nothing here but to be told of. A name that ends in 1 fails. */
export const programs: readonly string[] = words(
  'a b c ab a-b a.b c0 a1 b1 a+b _a 0a ls cat head grep sort uniq wc sed awk git tar tee rg date',
);
const builtins =
  words(`. : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs
  disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd
  printf pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset
  ulimit umask unalias unset wait`);
const wrappers = words('find env nice nohup setsid timeout xargs sh bash dash zsh sudo stdbuf busybox');
const denied = words('zap rm');
const paths = ['../bin/c'];

/** What generated lines call; the plain ones most often, so that many lines are allowed. */
export const commands: readonly string[] = [
  ...Array.from({length: 12}, () => programs).flat(),
  ...Array.from({length: 20}, () => ['echo', 'printf', 'true', 'false', 'test', 'pwd']).flat(),
  ...builtins,
  ...wrappers,
  ...denied,
  ...Array.from({length: 4}, () => paths).flat(),
];

/** Allows, as far as a rule can, whatever a generated line calls, but for the denied. */
export const generous: Policy = parseAllowlist(
  JSON.stringify({
    version: 1,
    commands: {
      allow: [
        ...[...programs, ...paths].map(name => ({match: `${name} *`, any_options: true})),
        ...[...builtins.filter(name => name !== '['), ...wrappers, 'rm'].map(name => `${name} *`),
      ],
      deny: ['zap *', 'rm -rf *', 'sudo *'],
    },
  }),
).policy;
