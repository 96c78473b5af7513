import {violate} from '../ledger.mjs';
import {agentdir, until} from '../run-command.mjs';

/** 11: what waits by its files is in NEEDS_YOU.md, in `agentdir status`, and nothing else is. */
export async function needsYou({ledger, daemon}, {home, items, sessions, text}) {
  const open = items.filter(({status, decision}) => status === 'pending' && decision === undefined).map(({id}) => id);
  const failed = sessions.filter(({header}) => header?.status === 'error');
  const read = () => {
    try {
      return text('NEEDS_YOU.md');
    } catch {
      return '';
    }
  };
  const missing = () => [
    ...open.filter(id => !read().includes(id)),
    ...failed.filter(({path}) => !read().includes(path)).map(({path}) => path),
  ];
  // It is written a moment after what it tells of.
  await until(() => missing().length === 0, 3_000);
  for (const what of missing()) violate(ledger, 11, `${what} waits and is not in NEEDS_YOU.md`);
  const waiting = sessions.filter(({header}) => header?.status === 'waiting');
  for (const {path, header} of waiting) {
    const asks = items.some(
      ({session, status, id}) => status === 'pending' && (session === header.session_id || id === header.waiting_for),
    );
    if (!asks) violate(ledger, 11, `${path} waits for nothing`);
  }
  if (!daemon.isServing()) return;
  const {stdout, code} = await agentdir(home, 'status', '--json');
  if (code === 5) return violate(ledger, 11, 'status says that no daemon runs', stdout);
  const told = JSON.parse(stdout);
  const heading = /^# (\d+) things? needs? you/m.exec(read());
  const count = heading ? Number(heading[1]) : 0;
  for (const {what} of told.troubles) violate(ledger, 11, `a trouble is told that is over: ${what}`);
  if (told.needs + told.troubles.length !== count)
    violate(ledger, 11, `status says ${told.needs}, NEEDS_YOU.md ${count}`, `${stdout}\n${read()}`);
}
