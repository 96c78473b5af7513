import {kindOf} from './command-name.ts';
import {riskyUses} from './flags.ts';
import {unwrap} from './wrappers.ts';

/** Commands that do what files of the working directory say. */
const builders: ReadonlySet<string> = new Set(
  'make gmake ninja cmake meson scons bazel just task rake npm npx pnpm yarn bun deno node-gyp tsc jest vitest cargo go gradle mvn ant sbt dotnet bundle gem composer pip pipx poetry uv tox nox pytest mix lein cabal stack'.split(
    ' ',
  ),
);

/** Why a command may run what lies in its working directory, where an agent can write; undefined: it is not known to. */
export function runsLocalCode(argv: readonly string[]): string | undefined {
  let found = reasonFor(argv);
  const {doubts} = unwrap(argv, inner => {
    found ??= reasonFor(inner);
  });
  return found ?? doubts[0];
}

function reasonFor(argv: readonly string[]): string | undefined {
  const [name = '', first] = argv;
  const kind = kindOf(name).split(' ', 1)[0] ?? '';
  const onlyTells = argv.length === 2 && first === '--version';
  if (builders.has(kind) && !onlyTells) return `${name} does what files of the workspace say`;
  return riskyUses(argv).find(({reason}) => /\bruns?\b/.test(reason))?.reason;
}
