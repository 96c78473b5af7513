import {violate} from '../ledger.mjs';
import {forbidden, steps} from '../steps.mjs';
import {callsOf} from './state.mjs';

/** How often each counting command ran, by tag and number of the reply: from the files that it left. */
export function runsIn({workspaces, text}) {
  const runs = new Map();
  const add = (key, lines) => runs.set(key, [...(runs.get(key) ?? []), ...lines]);
  for (const path of workspaces) {
    const [, ran] = /\/ran-(m\d{5}q-\d+-n\d+)\.\w+$/.exec(path) ?? [];
    if (ran) add(`ran-${ran}`, ['ran']);
    const [, counted] = /\/count-(m\d{5}q-\d+-n\d+)\.txt$/.exec(path) ?? [];
    if (counted) add(`count-${counted}`, text(path).split('\n').filter(Boolean));
  }
  return runs;
}

/** 3, 5 and 6: what runs, runs once, was decided so, and nothing runs that may not. */
export function onceOrAsk({ledger}, state) {
  const runs = runsIn(state);
  for (const [key, lines] of runs) if (lines.length > 1) violate(ledger, 3, `${key} ran ${lines.length} times`, lines);
  const known = new Set();
  const files = new Set(state.workspaces);
  for (const session of state.sessions)
    for (const call of callsOf(session)) {
      const {name, args, result, started, id} = call;
      const where = `${session.path} ${id}`;
      if (result === undefined && session.header?.status !== 'paused')
        violate(ledger, 3, `${where} has no result`, name);
      if (result?.code === 'INTERRUPTED' && !started) violate(ledger, 3, `${where} is interrupted and was not started`);
      const [key] = /(?:ran|count)-m\d{5}q-\d+-n\d+/.exec(args.command ?? '') ?? [];
      if (key) {
        known.add(key);
        judgeRun(ledger, where, call, runs.get(key) ?? []);
      }
      const made = name === 'create_file' && result?.success && `workspaces/${session.header?.agent_id}/${args.path}`;
      if (made && !files.has(made)) violate(ledger, 3, `${where} says that it made ${made}`);
      if (isForbidden(args) && result?.success !== false)
        violate(ledger, 6, `${where} was let do it`, JSON.stringify(args));
    }
  for (const key of runs.keys()) if (!known.has(key)) violate(ledger, 3, `${key} ran, and no session has the call`);
}

function judgeRun(ledger, where, {result, started, approval}, lines) {
  if (result === undefined) return;
  const times = lines.length;
  const {success, code} = result;
  if (success && times !== 1) violate(ledger, 3, `${where} succeeded and ran ${times} times`);
  if (times > 0 && !started) violate(ledger, 3, `${where} ran and was not marked`);
  if (['REJECTED', 'DENIED', 'NOT_ALLOWED', 'EXPIRED'].includes(code) && times > 0)
    violate(ledger, 5, `${where} ran although it is ${code}`);
  const decided = approval && ledger.decisions.get(approval);
  if (times === 0 || !approval) return;
  if (!decided) violate(ledger, 5, `${where} ran by approval ${approval}, which nobody decided`);
  else if (decided.decision !== 'approved') violate(ledger, 5, `${where} ran although ${approval} was rejected`);
  else if (lines[0].startsWith('edited-') !== (decided.edited !== undefined))
    violate(ledger, 5, `${where} ran as it was not approved`, `${lines[0]}; ${JSON.stringify(decided)}`);
}

const templates = forbidden.map(name => JSON.stringify(steps[name]('TAG', 0)[1]).split('TAG')[0]);
const isForbidden = args => {
  const text = JSON.stringify(args);
  return templates.some(begin => text.startsWith(begin));
};
