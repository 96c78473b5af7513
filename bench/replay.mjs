import {execFileSync} from 'node:child_process';
import {closeSync, mkdtempSync, openSync, rmSync, writeSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {nextAction, statusFor, withHeader} from '../dist/decide/turn.js';
import {appendMessage, parseSession, sessionText} from '../dist/index.js';
import {replay} from '../dist/surfaces/actions/replay/replay.js';
import {rounds, table} from './measure.mjs';
import {row} from './row.mjs';

const PATH = 'sessions/long.session.yaml';

/** A turn: a person asks, the model calls, the result comes, the model answers. Four commits, and 1 KB. */
function* versionsOf(turns, from) {
  let clock = Date.parse('2026-01-01T00:00:00Z') + from * 60_000;
  const now = () => {
    clock += 1000;
    return new Date(clock).toISOString();
  };
  const id = `long-${from}`;
  let session = parseSession(
    `session_id: ${id}\nagent_id: talker\nagent_type: talker\nmodel: default\nsystem_prompt: Be brief.\ncreated: ${now()}\nupdated: ${now()}\nstatus: active\nmessages:\n  - timestamp: ${now()}\n    role: user\n    from: human\n    content: hello\n`,
  );
  yield {who: 'Ada <ada@example.org>', cause: 'edit', text: sessionText(session)};
  const step = (message, who, cause) => {
    const added = appendMessage(session, message);
    session = withHeader(added, cause === 'edit' ? {} : {status: statusFor(nextAction(added.messages))}, now());
    return {who, cause, text: sessionText(session)};
  };
  const talker = 'talker <talker@home>';
  for (let i = 0; i < turns; i++) {
    if (i > 0)
      yield step(
        {timestamp: now(), role: 'user', from: 'human', content: `and ${i}? ${'why '.repeat(40)}`},
        'Ada <ada@example.org>',
        'edit',
      );
    const call = {id: `c${i}`, type: 'function', function: {name: 'list_agents', arguments: '{}'}};
    yield step({timestamp: now(), role: 'assistant', model: 'm', tool_calls: [call]}, talker, 'turn');
    yield step(
      {
        timestamp: now(),
        role: 'tool_result',
        tool_call_id: `c${i}`,
        content: JSON.stringify({success: true, agents: 'x'.repeat(400)}),
      },
      talker,
      'call',
    );
    yield step({timestamp: now(), role: 'assistant', model: 'm', content: `so ${'it is '.repeat(40)}`}, talker, 'turn');
  }
}

/** So many turns, with `each` of them in a session. */
function makeHome(turns, each) {
  const home = mkdtempSync(join(tmpdir(), 'agentdir-bench-'));
  const files = {
    'agentdir.yaml': 'format: 1\n',
    'allowlist.yaml': 'version: 1\n',
    'templates/talker.agent.yaml': 'id: talker\ntype: talker\nsystem_prompt: Be brief.\ncapabilities: [list_agents]\n',
  };
  const stream = `${home}.import`;
  const file = openSync(stream, 'w');
  const data = text => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const commit = (who, time, message, changes) => {
    writeSync(
      file,
      `commit refs/heads/main\nauthor ${who} ${time} +0000\ncommitter ${who} ${time} +0000\n${data(message)}`,
    );
    for (const [path, text] of Object.entries(changes)) writeSync(file, `M 100644 inline ${path}\n${data(text)}`);
    writeSync(file, '\n');
  };
  commit('Ada <ada@example.org>', 1_767_000_000, 'begin', files);
  let commits = 1;
  let bytes = 0;
  for (let from = 0; from < turns; from += each) {
    const path = PATH.replace('long', `long-${from}`);
    for (const {who, cause, text} of versionsOf(Math.min(each, turns - from), from)) {
      commit(who, 1_767_225_600 + commits++, `session(long): turn\n\nCause: ${cause}`, {[path]: text});
      bytes += text.length;
    }
  }
  execFileSync('git', ['init', '--quiet', '--initial-branch=main'], {cwd: home});
  closeSync(file);
  const input = openSync(stream, 'r');
  execFileSync('git', ['fast-import', '--quiet'], {cwd: home, stdio: [input, 'ignore', 'inherit']});
  closeSync(input);
  rmSync(stream);
  execFileSync('git', ['reset', '--quiet', '--hard', 'main'], {cwd: home});
  return {home, commits, bytes};
}

export default async function run() {
  const rows = [];
  const cases = [
    [125, 125],
    [500, 125],
    [1000, 125],
    [400, 400],
  ];
  for (const [turns, each] of cases.slice(0, rounds(4, 2))) {
    const {home, commits, bytes} = makeHome(turns, each);
    const begin = performance.now();
    const {sessions} = await replay(home, {wants: () => true, policy: 'then'});
    const ms = performance.now() - begin;
    const different = sessions.filter(({differences}) => differences.length > 0);
    if (different.length > 0) console.log(different[0].differences[0]);
    const before = performance.now();
    execFileSync('git', ['log', '--raw', '--no-abbrev', 'main'], {cwd: home, maxBuffer: 1 << 28});
    const log = performance.now() - before;
    row(`replay of ${turns.toLocaleString('en-US')} turns in ${turns / each} sessions`, {
      ours: ms,
      baseline: {name: 'git log --raw', value: log},
    });
    rows.push([`${turns}`, turns / each, commits, `${(bytes / 1e6).toFixed(0)} MB`, ms, ms / turns, log]);
    rmSync(home, {recursive: true, force: true});
  }
  table('replay', ['turns', 'sessions', 'commits', 'all versions', 'ms', 'ms a turn', 'git log --raw, ms'], rows);
}
