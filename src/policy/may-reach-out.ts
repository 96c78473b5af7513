import {commandKind} from './command/command-name.ts';
import {runsLocalCode} from './command/local-code.ts';
import {sendsOut} from './command/sends-out.ts';
import {onlyReads} from './risk.ts';

/** Commands that change only files or processes of this machine. */
const local: ReadonlySet<string> = new Set(
  'cp mv mkdir rmdir touch tee ln chmod chown chgrp rm unlink truncate gzip gunzip split kill'.split(' '),
);

/** Why a command outside the sandbox may contact other machines; undefined: known not to. */
export function mayReachOut(argv: readonly string[]): string | undefined {
  const sends = sendsOut(argv);
  if (sends !== undefined || staysHere(argv)) return sends;
  return `${argv[0]} runs where it can reach other machines`;
}

function staysHere(argv: readonly string[]): boolean {
  return onlyReads(argv) || (local.has(commandKind(argv[0] ?? '')) && runsLocalCode(argv) === undefined);
}
