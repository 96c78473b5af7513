import {appendFileSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {checkPart} from './check.mjs';
import {violate} from './ledger.mjs';
import {git} from './run-command.mjs';

/**
 * Invariants broken on purpose, each in a copy of the home as the soak left it: the name, which checks are made,
 * the invariants of which one must be reported, and what is done. Nobody can trust a check that was never seen to fail.
 */
const deeds = [
  [
    'a person’s comment is gone',
    'files',
    [2],
    ({home, ledger}) =>
      dropLine(
        home,
        ledger.lines.find(({what}) => what === 'comment'),
      ),
  ],
  ['a person’s message is gone', 'files', [1], ({home, ledger}) => dropMessage(home, ledger.messages[0])],
  ['a task of a person’s is there twice', 'files', [1], ({home, ledger}) => doubleTask(home, ledger.tasks[0])],
  ['a command ran twice', 'files', [3], ({home}) => runTwice(home)],
  [
    'a call lost its result',
    'files',
    [3],
    ({home}) => editSession(home, /^ {2}- timestamp: .*\n {4}role: tool_result\n(?: {4}.*\n)+/m, ''),
  ],
  [
    'a delivered line is gone',
    'files',
    ['deliveries'],
    ({home, ledger}) => ledger.inbox.length > 0 && replaceInSessions(home, `${ledger.inbox[0].mark} line`, 'lost'),
  ],
  ['a delivery came twice', 'files', ['deliveries'], ({home}) => twiceDelivered(home)],
  ['a reply to changed words was kept', 'files', [7], ({ledger, home}) => ledger.stale.add(Number(firstReply(home)))],
  ['a request had a call without its result', 'files', [4], ({mind}) => mind.server.violations.push('sabotage')],
  ['what was rejected ran', 'files', [5], ({ledger, home}) => rejectWhatRan(ledger, home)],
  ['an agent wrote the policy', 'commands', [5, 6], ({home}) => commitAs(home, 'allowlist.yaml', 'a001')],
  [
    'something is not committed',
    'journal',
    [8],
    ({home}) => appendFileSync(join(home, 'memory/notes-0.md'), 'uncommitted\n'),
  ],
  ['commits of the daemon are gone', 'journal', [8], ({home}) => forgetHistory(home)],
  ['the key is in a file', 'secrets', [9], ({home, secret}) => appendFileSync(join(home, '.agentdir/leak'), secret)],
  ['the key is in the history', 'secrets', [9], ({home, secret}) => leak(home, secret)],
  ['a request waits and nobody is told', 'needs', [11], ({home}) => hideNeed(home)],
  ['at work: a command ran twice', 'glance', [3], ({home}) => runTwice(home)],
  ['at work: commits of the daemon are gone', 'glance', [8], ({home}) => forgetHistory(home)],
  ['at work: the key is in a file', 'glance', [9], ({home, secret}) => appendFileSync(join(home, 'own/leak'), secret)],
  ['at work: a request is not valid', 'glance', [4], ({mind}) => mind.server.violations.push('sabotage')],
  [
    'at work: a file with errors is written',
    'glance',
    [1],
    ({ledger}) => ledger.spoiled.set('agentdir.yaml', {bytes: Buffer.from('format: ['), way: 'syntax'}),
  ],
  [
    'a file has errors in the end',
    'commands',
    [1],
    ({home}) => appendFileSync(join(home, 'templates/a001.agent.yaml'), 'broken: [\n'),
  ],
];

/** Which of them were seen. */
export async function sabotage(world) {
  const results = [];
  for (const [name, part, invariants, deed] of deeds) {
    const home = join(world.disk.folder, 'sabotaged');
    cpSync(world.home, home, {recursive: true, preserveTimestamps: true, verbatimSymlinks: true});
    const {ledger, mind} = world;
    const copy = {
      ...world,
      home,
      daemon: {isServing: () => false},
      mind: {server: {violations: [...mind.server.violations], errors: []}},
      ledger: {
        ...ledger,
        violations: [],
        seen: new Set(),
        stale: new Set(ledger.stale),
        spoiled: new Map(),
        decisions: new Map(ledger.decisions),
        counts: {...ledger.counts},
      },
    };
    // Null: in a short time there may have been nothing to break.
    let seen = null;
    try {
      if ((await deed(copy)) !== false) {
        await checkPart(copy, home, part);
        seen = copy.ledger.violations.some(({invariant}) => invariants.includes(invariant));
      }
    } catch (error) {
      violate(ledger, 'soak', `sabotage "${name}": ${error.message}`, error.stack);
    }
    results.push({name, seen});
    rmSync(home, {recursive: true, force: true});
    world.tell(`sabotage: ${name}`);
  }
  return results;
}

const edit = (home, path, how) => {
  const full = join(home, path);
  const text = readFileSync(full, 'utf8');
  const next = how(text);
  writeFileSync(full, next);
  return next !== text;
};
const replaceIn = (home, path, what, by) => edit(home, path, text => text.replaceAll(what, by));
const dropMessage = (home, said) => said !== undefined && replaceIn(home, said.path, said.first, 'nothing');
const dropLine = (home, {path, line}) => replaceIn(home, path, `${line}\n`, '');
const sessionsIn = home =>
  readdirSync(join(home, 'sessions'), {recursive: true})
    .filter(name => name.endsWith('.session.yaml'))
    .map(name => join('sessions', name));
const editSession = (home, pattern, by) =>
  sessionsIn(home).some(path => edit(home, path, text => text.replace(pattern, by)));
const replaceInSessions = (home, what, by) =>
  sessionsIn(home).filter(path => replaceIn(home, path, what, by)).length > 0;

const doubleTask = (home, task) =>
  task !== undefined && edit(home, task.path, text => `${text}- [x] @human "${task.mark} job"\n  id: again\n`);

function runTwice(home) {
  for (const agent of readdirSync(join(home, 'workspaces')))
    for (const name of agent.startsWith('.') ? [] : readdirSync(join(home, 'workspaces', agent)))
      if (/^ran-.*\.\w+$/.test(name)) {
        writeFileSync(join(home, 'workspaces', agent, `${name.slice(0, name.lastIndexOf('.'))}.AGAIN1`), '');
        return true;
      }
  return false;
}

function twiceDelivered(home) {
  const [one, two] = sessionsIn(home)
    .map(path => ({path, id: /^ {4}delivery: (.*)$/m.exec(readFileSync(join(home, path), 'utf8'))?.[1]}))
    .filter(({id}) => id);
  return two !== undefined && replaceIn(home, two.path, two.id, one.id);
}

function firstReply(home) {
  for (const path of sessionsIn(home)) {
    const n = /answer n(\d+)\./.exec(readFileSync(join(home, path), 'utf8'))?.[1];
    if (n) return n;
  }
  return Number.NaN;
}

function rejectWhatRan(ledger, home) {
  const ran = [...ledger.decisions].find(
    ([, {decision, command}]) => decision === 'approved' && /count-/.test(command ?? '') && wasRun(home, command),
  );
  if (!ran) return false;
  ledger.decisions.set(ran[0], {...ran[1], decision: 'rejected'});
  return true;
}

const wasRun = (home, command) => {
  const name = /count-\S+/.exec(command)[0];
  return readdirSync(join(home, 'workspaces')).some(agent => existsSync(join(home, 'workspaces', agent, name)));
};

async function commitAs(home, path, agent) {
  appendFileSync(join(home, path), '# easier\n');
  await git(
    home,
    '-c',
    `user.name=${agent}`,
    'commit',
    '-qm',
    'policy',
    `--author=${agent} <${agent}@soak>`,
    '--',
    path,
  );
}

async function forgetHistory(home) {
  await git(home, 'reset', '-q', '--soft', 'HEAD~30');
  await git(home, 'commit', '-qm', 'squashed');
}

async function leak(home, secret) {
  appendFileSync(join(home, 'own/diary.txt'), secret);
  await git(home, 'commit', '-qam', 'oops');
  edit(home, 'own/diary.txt', text => text.replace(secret, ''));
  await git(home, 'commit', '-qam', 'mended');
  await git(home, 'gc', '--quiet');
}

function hideNeed(home) {
  const text = '- [_] A @human #approval "Approve command: x"\n  id: hiddenhidden\n  status: pending\n';
  return edit(home, 'tasks/approvals.task.md', before => before + text);
}
