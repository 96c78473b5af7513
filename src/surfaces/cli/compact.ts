import {exit} from '../../formats/common/errors.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import {grouped} from '../../formats/session/spent.ts';
import {compactSession, undoCompaction} from '../actions/sessions/compact-session.ts';
import {namedSession} from '../actions/sessions/named-session.ts';
import {colors, complain, note, print, printJson} from '../terminal/output.ts';

export interface CompactOptions {
  home: string;
  session: string;
  keep: number | undefined;
  undo: boolean;
  json: boolean;
}

/** A model may need minutes for the checkpoint of a long conversation. */
const PATIENCE_MS = 300_000;

export async function compactCommand({home, session, keep, undo, json}: CompactOptions): Promise<number> {
  const file = namedSession(home, session);
  const name = colors.bold(visibleLine(file.id));
  if (undo) {
    const {from, to} = await undoCompaction(home, file);
    if (json) printJson({session: file.id, path: file.path, version: to, undone: from});
    else {
      const sent = to === 1 ? 'all its messages are sent again' : `version ${to} is in force again`;
      print(`${colors.green('undone')} version ${from} of ${name}: ${sent}`);
      note(`to redo it, set "version: ${from}" under context: in ${file.path}`);
    }
    return exit.done;
  }
  const outcome = await compactSession(home, file, {keep, patienceMs: PATIENCE_MS});
  if (outcome === 'later' || outcome === 'pending') {
    if (json) printJson({session: file.id, path: file.path, pending: true});
    else if (outcome === 'later') print(`${name} is compacted once a daemon runs: agentdir start`);
    else print(`${name} is still being compacted: agentdir show ${visibleLine(file.id)}`);
    return exit.done;
  }
  if ('failed' in outcome) {
    if (json) printJson({session: file.id, path: file.path, error: outcome.failed});
    complain(outcome.failed, 'nothing was changed');
    return exit.failed;
  }
  const {made} = outcome;
  if (json) printJson({session: file.id, path: file.path, ...made});
  else {
    const {version, upto = '', tokens_before = 0, tokens_after = 0} = made;
    print(
      `${colors.green('compacted')} ${name} up to message ${Number(upto.slice(4))}: about ${grouped(tokens_before)} to ${grouped(tokens_after)} tokens (version ${version})`,
    );
    print(`  ${colors.dim(visibleLine(made.file ?? ''))}  edit it, and the model sees your edit`);
  }
  return exit.done;
}
