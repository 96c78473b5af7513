import {fieldOf} from '../../dist/formats/task/task.js';
import {violate} from '../ledger.mjs';
import {callsOf} from './state.mjs';

/** Messages, tasks and inbox lines: each once, in order for each pair. Gives how many there were. */
export function deliveries({ledger}, state) {
  const ids = new Map();
  for (const {path, messages} of state.sessions)
    for (const {delivery} of messages) {
      if (!delivery) continue;
      if (ids.has(delivery)) violate(ledger, 'deliveries', `${delivery} is in ${path} and in ${ids.get(delivery)}`);
      ids.set(delivery, path);
    }
  inboxLines(ledger, state);
  sent(ledger, state);
  tasks(ledger, state);
  return ids.size;
}

const textsOf = (sessions, agent) =>
  sessions
    .filter(({header}) => header?.agent_id === agent)
    .map(({messages}) => messages.filter(({role}) => role === 'user').map(({content}) => content ?? ''));

function inboxLines(ledger, {sessions}) {
  const byAgent = new Map();
  for (const {mark, agent, file} of ledger.inbox) {
    if (!byAgent.has(agent)) byAgent.set(agent, textsOf(sessions, agent).flat());
    const places = byAgent.get(agent).flatMap((text, at) => (text.includes(`${mark} line`) ? [at] : []));
    if (places.length !== 1) violate(ledger, 'deliveries', `the line ${mark} of ${file} came ${places.length} times`);
  }
  for (const file of new Set(ledger.inbox.map(each => each.file))) {
    const own = ledger.inbox.filter(each => each.file === file);
    const places = own.map(({mark, agent}) => byAgent.get(agent).findIndex(text => text.includes(`${mark} line`)));
    const late = places.findIndex((place, i) => i > 0 && place >= 0 && place < places[i - 1]);
    if (late > 0) violate(ledger, 'deliveries', `the line ${own[late].mark} of ${file} came before an earlier one`);
  }
}

/** What was sent successfully came once; from one session to one agent, in the order of sending. */
function sent(ledger, {sessions}) {
  const heard = new Map();
  const pairs = new Map();
  for (const session of sessions)
    for (const {name, args, result} of callsOf(session)) {
      const [, tag] = (name === 'send_message' && /^word (\S+) of/.exec(args.content ?? '')) || [];
      if (!tag || !result?.success) continue;
      const to = args.to;
      if (!heard.has(to)) heard.set(to, textsOf(sessions, to).flat());
      const places = heard.get(to).flatMap((text, at) => (text.includes(`word ${tag} of`) ? [at] : []));
      const tries = countCalls(session, tag);
      if (places.length < 1 || places.length > tries)
        violate(ledger, 'deliveries', `the message ${tag} to ${to} came ${places.length} times, sent ${tries} times`);
      const pair = `${session.path} → ${to}`;
      if (places[0] < (pairs.get(pair) ?? -1))
        violate(ledger, 'deliveries', `${pair}: ${tag} came before an earlier one`);
      pairs.set(pair, places[0]);
    }
}

const countCalls = (session, tag) => [...callsOf(session)].filter(({args}) => args.content?.includes(tag)).length;

/** A task that may begin has been given to its agent, and none is forgotten. */
function tasks(ledger, {taskFiles, sessions}) {
  const all = taskFiles.flatMap(({path, file}) => file.tasks.map(task => ({path, task})));
  const states = new Map(all.map(({task}) => [fieldOf(task, 'id'), task.state]));
  const told = sessions.flatMap(({header, messages}) =>
    messages
      .filter(({role, content}) => role === 'user' && content?.includes('You have been assigned a task'))
      .map(({content}) => `${header?.agent_id} ${/^Id: (\S+)$/m.exec(content)?.[1]}`),
  );
  const toldSet = new Set(told);
  for (const {path, task} of all) {
    const id = fieldOf(task, 'id');
    const agent = task.names[0];
    if (!agent || !/^a\d{3}$/.test(agent)) continue;
    const open = (fieldOf(task, 'depends_on') ?? '')
      .split(/[\s,]+/)
      .filter(Boolean)
      .some(each => states.get(each) !== 'completed');
    const given = fieldOf(task, 'assigned') !== undefined;
    if (task.state === 'pending' && !open && !given)
      violate(ledger, 'deliveries', `${path}: task ${id} is ready and not given to ${agent}`);
    if (given && !toldSet.has(`${agent} ${id}`))
      violate(ledger, 'deliveries', `${path}: ${agent} was not told of task ${id}`);
    const stands = ['pending', 'in_progress'].includes(task.state) && given && !fieldOf(task, 'stalled');
    if (stands) violate(ledger, 11, `${path}: task ${id} of ${agent} stands still, and nothing says so`);
  }
}
