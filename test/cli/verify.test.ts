import {execFileSync, spawnSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {sign} from '../../src/effects/signature/ssh-signature.ts';
import {signedText} from '../../src/formats/approval/approval-digest.ts';
import {setReview} from '../../src/formats/approval/approval-edit.ts';
import {newSession, parseSession, sessionText} from '../../src/formats/session/session.ts';
import {appendMessage} from '../../src/formats/session/session-edit.ts';
import {type Audit, audit} from '../../src/surfaces/actions/verify/audit.ts';
import {
  APPROVED,
  callOf,
  digest,
  goodStory,
  type ItemOver,
  PENDING,
  pageOf,
  pastHome,
  QUEUE,
  queueOf,
  SESSION,
  type Step,
  sessionOf,
  settings,
  timeOf,
} from './past-home.ts';
import {agentdir, environment, temporary, thorough} from './run.ts';

const look = (steps: readonly Step[]): Promise<Audit> => audit(pastHome(steps), () => {});
const kinds = async (steps: readonly Step[]): Promise<string[]> =>
  (await look(steps)).findings.map(({kind, commit}) => (commit ? kind : 'no commit'));

/** The good story with some steps, from 1, replaced or left out. */
function storyWith(over: Record<number, Partial<Step> | undefined>): Step[] {
  return goodStory().flatMap((step, index) => {
    const n = index + 1;
    return n in over ? (over[n] ? [{...step, ...over[n]}] : []) : [step];
  });
}

/** The same with other items wherever the queue is written after the question. */
function withItem(item: ItemOver): Step[] {
  const fields = {status: 'approved', approved_at: timeOf(4), ...item.fields};
  const files = {[QUEUE]: queueOf({box: 'x', ...item, fields})};
  return storyWith({4: {files}, 5: {files: {...files, [PENDING]: undefined, [APPROVED]: pageOf()}}, 8: undefined});
}

const started = callOf({started: timeOf(6), run: 'r1'});

const found: readonly [string, string, () => Step[]][] = [
  [
    'a decision in the same commit',
    'undecided',
    () => {
      const [, , , decided, , run] = goodStory();
      return storyWith({4: undefined, 5: undefined, 6: {by: 'Ada', files: {...decided.files, ...run.files}}});
    },
  ],
  ['no item', 'undecided', () => storyWith({3: undefined, 4: undefined, 5: undefined, 8: undefined})],
  ['an open item', 'undecided', () => storyWith({4: undefined, 5: undefined})],
  ['a decision that came later', 'undecided', () => [1, 2, 3, 6, 4, 5, 7, 8].flatMap(n => goodStory()[n - 1] ?? [])],
  ['an item of another session', 'other-call', () => withItem({fields: {session: 's2'}})],
  ['an item of another call', 'other-call', () => withItem({fields: {call: 'c2'}})],
  ['a digest of something else', 'digest', () => withItem({fields: {digest: digest(callOf({args: {command: 'ls'}}))}})],
  ['no page to know the digest by', 'digest', () => storyWith({3: {files: {[QUEUE]: queueOf({})}}, 5: undefined})],
  ['a decision after it expired', 'expired', () => withItem({fields: {expires: timeOf(3)}})],
  [
    'a rejection before the approval',
    'rejected',
    () => storyWith({3: {by: 'Ada', files: {[QUEUE]: queueOf({box: '-'}), [PENDING]: pageOf()}}}),
  ],
  [
    'an item that had expired',
    'expired',
    () => storyWith({3: {files: {[QUEUE]: queueOf({box: '-', fields: {status: 'expired'}}), [PENDING]: pageOf()}}}),
  ],
  ['an edit without the original', 'edited', () => withItem({fields: {edited: 'true'}})],
  ['an edit of something else', 'edited', () => withItem({fields: {edited: 'true', original: 'ls'}})],
  [
    'a call that was changed when it started',
    'digest',
    () => {
      const other = sessionOf(callOf({args: {command: 'docker rm redis'}, started: timeOf(6)}));
      return storyWith({6: {files: {[SESSION]: other}}, 7: undefined});
    },
  ],
  [
    'a call that was started again',
    'started-twice',
    () => storyWith({7: {files: {[SESSION]: sessionOf({...started, started: timeOf(7), run: 'r2'})}}}),
  ],
  [
    'a result that was changed',
    'result-changed',
    () => [...goodStory(), {by: 'Ada', files: {[SESSION]: sessionOf(started, {success: true, exit_code: 1})}}],
  ],
  [
    'a result without a start',
    'unmarked',
    () => storyWith({6: undefined, 7: {files: {[SESSION]: sessionOf(callOf(), {success: true})}}}),
  ],
  ['an item that claims a run', 'no-execution', () => storyWith({6: undefined, 7: undefined})],
  [
    'a policy that an agent wrote',
    'agent-wrote',
    () => [...goodStory(), {by: 'executor-001', files: {'allowlist.yaml': 'version: 1\n'}}],
  ],
];

describe('the journal of a home', () => {
  it('is clean where a person decided before the call started', async () => {
    expect(await look(goodStory())).toMatchObject({commits: 8, executions: 1, decisions: 1, findings: [], unread: []});
  });

  it('is clean where a person approved the start of a task, and it was delivered', async () => {
    const item = queueOf({
      box: 'x',
      fields: {approval_type: 'task_start', task: 't1', approved_at: timeOf(4), executed_at: timeOf(6)},
    }).replace('approval_type: terminal_command\n', 'approval_type: task_start\n');
    const message = {timestamp: timeOf(5), role: 'user', content: 'Do it', delivery: 'task/t1#1'} as const;
    const session = newSession({agent_id: 'executor-001', status: 'active'}, [message], '../schemas/session.json');
    const decided: Step = {by: 'Ada', files: {...settings, [QUEUE]: item}};
    expect(await kinds([decided, {files: {[SESSION]: session}}])).toEqual([]);
    expect(await kinds([decided])).toEqual(['no-execution']);
  });

  it('is clean where a person brought sessions of another system, and counts their calls', async () => {
    const {approval: _, ...call} = callOf();
    const brought = sessionOf(call, {success: true});
    const twice = sessionText(
      appendMessage(parseSession(brought), {role: 'tool_result', tool_call_id: 'c1', content: '{"success": false}'}),
    );
    const audited = await look([{by: 'Ada', files: {...settings, [SESSION]: twice}}]);
    expect(audited).toMatchObject({executions: 0, elsewhere: 1, findings: []});
    // Into a session of this home, a person brings no results.
    expect(
      await kinds([
        {by: 'Ada', files: {[SESSION]: sessionOf(call)}},
        {by: 'Ada', files: {[SESSION]: brought}},
      ]),
    ).toEqual(['unmarked']);
  });

  it('does not count commits of a project that shares its repository', async () => {
    const source = (text: string): Step => ({
      by: 'Ada',
      cause: '',
      files: {'src/x.ts': text, 'memory/x.md': text},
    });
    const own: Step = {by: 'Ada', cause: '', files: {'memory/y.md': 'y\n'}};
    expect(await look([source('a'), own, ...goodStory(), source('b')])).toMatchObject({commits: 9, findings: []});
  });

  it('is clean where the person decided on the page, and the daemon ticked the box', async () => {
    const page = setReview(pageOf(), {decision: 'APPROVED'});
    const ticked = queueOf({box: 'x', fields: {status: 'approved'}});
    // The page is moved in two commits.
    const [a, b, c, d, , f, g] = goodStory();
    const decided = {...d, files: {[PENDING]: page}};
    const moved = [{[QUEUE]: ticked, [PENDING]: undefined}, {[APPROVED]: page}].map(files => ({files}));
    expect(await kinds([a, b, c, decided, ...moved, f, g])).toEqual([]);
    // It was taken back.
    expect(await kinds([a, b, c, decided, {...c, by: 'Ada'}, ...moved, f, g])).toEqual(['undecided']);
    // The daemon alone cannot.
    expect(await kinds(storyWith({4: undefined}))).toEqual(['undecided']);
  });

  it('is clean where the daemon recorded a decision and ran the call in one commit, and a person decided before', async () => {
    const [a, b, c, d, e, f, g, h] = goodStory();
    const run: Step = {...f, files: {...e.files, ...f.files}, joined: 'tasks(approvals): a1 approved'};
    const whole: Step = {...run, files: {...run.files, ...g.files, ...h.files}};
    expect(await kinds([a, b, c, d, run, g, h])).toEqual([]);
    expect(await kinds([a, b, c, d, whole])).toEqual([]);
    // On the page, and the daemon ticked the box in that commit.
    const page = setReview(pageOf(), {decision: 'APPROVED'});
    const onPage = {...d, files: {[PENDING]: page}};
    expect(await kinds([a, b, c, onPage, {...whole, files: {...whole.files, [APPROVED]: page}}])).toEqual([]);
    // The decision is not a person's, was taken back, or stands in the commit itself.
    expect(await kinds([a, b, c, whole])).toEqual(['undecided']);
    expect(await kinds([a, b, c, d, {...c, by: 'Ada'}, whole])).toEqual(['undecided']);
    expect(await kinds([a, b, c, {...whole, by: 'Ada'}])).toEqual(['undecided']);
  });

  it('is clean where the policy allows the call by itself', async () => {
    const call = {approval: undefined, args: {command: 'ls -la'}} as unknown as Parameters<typeof callOf>[0];
    const plain = (over: object) => {
      const {approval: _, ...rest} = callOf({...call, ...over});
      return rest;
    };
    const steps = (over: object, header = {}): Step[] => [
      {by: 'Ada', files: settings},
      {by: 'executor-001', files: {[SESSION]: sessionOf(plain({...over, started: timeOf(2)}), undefined, header)}},
    ];
    expect(await kinds(steps({}))).toEqual([]);
    expect(await kinds(steps({args: {command: 'docker ps'}}))).toEqual(['not-allowed']);
    expect(await kinds(steps({args: {command: 'ls', network: true}}))).toEqual(['not-allowed']);
    expect(await kinds(steps({args: {command: 'rm x'}}))).toEqual(['denied']);
    expect(await kinds(steps({tool: 'remember', args: {}}))).toEqual(['not-allowed']);
    // What a tainted session sends out is asked about, whatever a rule says.
    const rules = '[{match: "git push", sandbox: host}, {match: "ls", sandbox: host}, {match: "ls -a", network: true}]';
    const allowing = `version: 1\ncommands: {allow: ${rules}}\ntools: {fetch: allow}\n`;
    const open = (over: object, header: object): Step[] => {
      const [first, second] = steps(over, header) as [Step, Step];
      return [{...first, files: {...settings, 'allowlist.yaml': allowing}}, second];
    };
    const outside = {tainted: ['inbox/slack.jsonl#1']};
    const sends = [
      {tool: 'fetch', args: {url: 'https://example.org/'}},
      {args: {command: 'git push'}},
      {args: {command: 'ls -a'}},
    ];
    for (const over of sends) {
      expect(await kinds(open(over, {}))).toEqual([]);
      expect(await kinds(open(over, outside))).toEqual(['not-allowed']);
    }
    expect(await kinds(open({args: {command: 'ls'}}, outside))).toEqual([]);
    // One commit may hold several steps: what came from outside after the call was started is no reason to ask.
    const heard = (at: string): Step[] => {
      const [first, second] = open({tool: 'fetch', args: {url: 'https://example.org/'}}, outside) as [Step, Step];
      const from = 'inbox/slack.jsonl#1';
      const text = appendMessage(parseSession(second.files[SESSION] ?? ''), {
        timestamp: at,
        role: 'user',
        from,
        content: 'x',
      });
      return [first, {...second, files: {[SESSION]: sessionText(text)}}];
    };
    expect(await kinds(heard(timeOf(3)))).toEqual([]);
    expect(await kinds(heard(timeOf(1)))).toEqual(['not-allowed']);
  });

  it('does not take versions that come back for another start', async () => {
    const repeated = (started?: string) => {
      const {approval: _, ...call} = callOf({tool: 'send_message', args: {to: 'a', content: 'x'}});
      return sessionOf({...call, ...(started ? {started, run: started} : {})});
    };
    const versions = [undefined, timeOf(3), timeOf(4), undefined, timeOf(3), timeOf(4)].map(repeated);
    const template = 'templates/executor-001.agent.yaml';
    const first = {...settings, [template]: `${settings[template]?.replace(']', ', send_message]')}`};
    const steps: Step[] = versions.map(text => ({by: 'executor-001', files: {[SESSION]: text}}));
    const over = sessionOf(
      {...callOf({tool: 'send_message', args: {to: 'a', content: 'x'}}), started: timeOf(4)},
      {success: true},
    );
    const done: Step = {by: 'executor-001', files: {[SESSION]: over.replace(/^ *approval: .*\n/m, '')}};
    expect(await kinds([{by: 'Ada', files: first}, ...steps.slice(0, 3), done, ...steps.slice(3), done])).toEqual([]);
  });

  it('knows the policy as it was, not as it is', async () => {
    const allow = {'allowlist.yaml': 'version: 1\ncommands: {allow: ["docker restart redis"]}\n'};
    const {approval: _, ...call} = started;
    const run: Step = {by: 'executor-001', files: {[SESSION]: sessionOf(call)}};
    const [first] = goodStory();
    expect(await kinds([first, {by: 'Ada', files: allow}, run, first])).toEqual([]);
    expect(await kinds([first, run, {by: 'Ada', files: allow}])).toEqual(['not-allowed']);
    // What waited for a person need not any more, unless the person said no.
    expect(await kinds(storyWith({4: {files: allow}, 5: undefined, 8: undefined}))).toEqual([]);
    const no = {by: 'Ada', files: {...allow, [QUEUE]: queueOf({box: '-'})}} as const;
    expect(await kinds(storyWith({4: no, 5: undefined, 8: undefined}))).toEqual(['rejected']);
    expect(await kinds([first, {by: 'Ada', files: {...allow, ...run.files}}])).toEqual(['not-allowed']);
  });

  // The gate tries them all, else the first of each kind.
  it.each(found.filter(([, kind], i) => thorough || found.findIndex(other => other[1] === kind) === i))(
    'finds %s',
    async (_, kind, steps) => {
      expect(await kinds(steps())).toEqual([kind]);
    },
  );

  it('finds a session that does a task for another one, if no call there gave it this task', async () => {
    const {approval: _, ...given} = callOf({tool: 'task', started: timeOf(3), child: 's1.1'});
    const policy = {'allowlist.yaml': 'version: 1\ntools: {task: allow, update_task: allow}\n'};
    const template = 'id: executor-001\ntype: t\nsystem_prompt: p\ncapabilities: [task, update_task]\n';
    const first: Step = {by: 'Ada', files: {...settings, ...policy, 'templates/executor-001.agent.yaml': template}};
    const steps = (
      call: Parameters<typeof sessionOf>[0],
      child: string,
      parent = {session: 's1', call: 'c1'},
    ): Step[] => [
      first,
      {by: 'executor-001', files: {[SESSION]: sessionOf(call)}},
      {files: {[`sessions/a/${child}.session.yaml`]: newSession({agent_id: 'a', kind: 'task', parent}, [], 'x.json')}},
    ];
    expect(await kinds(steps(given, 's1.1'))).toEqual([]);
    const {started: __, child: ___, ...waiting} = given;
    expect(await kinds(steps(waiting, 's1.1'))).toEqual(['no-delegation']);
    expect(await kinds(steps(given, 's1.1', {session: 's1', call: 'c2'}))).toEqual(['no-delegation']);
    // The call gave a task, and to another session; or it did something else.
    expect(await kinds(steps(given, 's1.2'))).toEqual(['no-delegation']);
    const other = {...given, function: {name: 'update_task', arguments: '{}'}};
    expect(await kinds(steps(other, 's1.1'))).toEqual(['no-delegation']);
  });

  it('lets a page ask in the name of an agent, and decide nothing', async () => {
    const asked: Step = {by: 'executor-001', files: {[PENDING]: pageOf()}};
    const [a, b, c, ...rest] = goodStory();
    expect(await kinds([a, b, asked, c, asked, ...rest])).toEqual([]);
    const decided: Step = {by: 'executor-001', files: {[PENDING]: setReview(pageOf(), {decision: 'APPROVED'})}};
    expect(await kinds([a, b, c, decided, ...rest])).toEqual(['agent-decided', 'agent-wrote']);
  });

  it('finds what an agent decided', async () => {
    expect(await kinds(storyWith({4: {by: 'executor-001'}}))).toEqual(['agent-decided', 'agent-wrote', 'undecided']);
  });

  it('finds an approval that was used for a second call, and not one that a copy of the session tells of', async () => {
    const copy = {
      by: 'Ada',
      files: {'sessions/fork.session.yaml': sessionOf(started, {success: true, exit_code: 0})},
    } as const;
    expect(await kinds([...goodStory(), copy])).toEqual([]);
    const moved: Step = {by: 'Ada', files: {[SESSION]: undefined, 'sessions/old/s1.session.yaml': sessionOf(started)}};
    expect(await kinds([...goodStory(), moved])).toEqual([]);
    const second = sessionOf({...started, started: timeOf(9)});
    expect(await kinds([...goodStory(), {by: 'executor-001', files: {'sessions/x.session.yaml': second}}])).toEqual([
      'other-call',
    ]);
    const twice = sessionOf(callOf({id: 'c2', started: timeOf(9)}));
    const item = {box: 'x', fields: {call: 'c2', digest: digest(callOf({id: 'c2'}))}} as const;
    const again: Step[] = [
      {by: 'Ada', files: {[QUEUE]: queueOf(item)}},
      {by: 'executor-001', files: {[SESSION]: twice}},
    ];
    expect(await kinds([...goodStory(), ...again])).toEqual(['used-twice']);
  });

  it('takes what a crash cut off and is delivered again for one run, and after its result for two', async () => {
    const begun = (step: number, run: string) => {
      const {approval: _, ...call} = callOf({
        tool: 'send_message',
        args: {to: 'ann', content: 'x'},
        started: timeOf(step),
        run,
      });
      return call;
    };
    const template = 'id: executor-001\ntype: t\nsystem_prompt: p\ncapabilities: [send_message]\n';
    const steps = (...sessions: string[]): Step[] => [
      {by: 'Ada', files: {...settings, 'templates/executor-001.agent.yaml': template}},
      ...sessions.map((text): Step => ({by: 'executor-001', files: {[SESSION]: text}})),
    ];
    const sent = {success: true, to: 'ann'};
    const [first, second] = [begun(2, 'r1'), begun(3, 'r2')];
    expect(await kinds(steps(sessionOf(first), sessionOf(second), sessionOf(second, sent)))).toEqual([]);
    expect(await kinds(steps(sessionOf(first), sessionOf(first, sent), sessionOf(second, sent)))).toEqual([
      'started-twice',
    ]);
  });

  it('follows an item into the archive', async () => {
    const filed = queueOf({box: 'x', fields: {status: 'approved', approved_at: timeOf(4)}});
    const archived: Step = {files: {[QUEUE]: '# Approvals\n', 'tasks/archive/approvals-2026-11.task.md': filed}};
    const [a, b, c, d, e, f, g] = goodStory();
    expect(await kinds([a, b, c, d, e, archived, f, g])).toEqual([]);
  });

  it('accepts what was committed in the wrong order after a crash, if the files say which came first', async () => {
    const [a, b, c, d, , f, g] = goodStory();
    const decided = {by: 'Ada', files: {[QUEUE]: queueOf({box: 'x', fields: {approved_at: timeOf(4)}})}} as const;
    const recovered = (step: Step): Step => ({...step, cause: 'recovered'});
    expect(await look([a, b, c, recovered(f), recovered(decided), g])).toMatchObject({findings: [], recovered: 1});
    // Also if the box had been un-ticked before.
    const back = {by: 'Ada', files: {[QUEUE]: queueOf({})}} as const;
    const twice = [a, b, c, d, goodStory()[4], back, recovered(f), recovered(decided), g];
    expect(await look(twice)).toMatchObject({findings: [], recovered: 1});
    // And if the page has a no that came with them, which the item knows nothing of; not if it was there before.
    const no: Step = {by: 'Ada', files: {[PENDING]: setReview(pageOf(), {decision: 'REJECTED'})}};
    expect(await kinds([a, b, c, recovered(no), recovered(f), recovered(decided), g])).toEqual([]);
    expect(await kinds([a, b, c, no, recovered(f), recovered(decided), g])).toEqual(['rejected']);
    expect(await kinds([a, b, c, recovered(no), g, recovered(f), recovered(decided)])).not.toEqual([]);
    // Nothing says when, it is of another start, or there was none.
    expect(await kinds([a, b, c, recovered(f), recovered(d), g])).toEqual(['undecided']);
    expect(await kinds([a, b, c, recovered(f), g, recovered(decided)])).toEqual(['undecided']);
  });

  it('takes a yes that a stale save took away for a moment, and the daemon merged back, for what it is', async () => {
    const [a, b, c, d, e, f, g, h] = goodStory();
    const stale: Step = {by: 'Ada', files: {[QUEUE]: `${queueOf({})}\nmine\n`}};
    const merged = (over: Partial<Step> = {}): Step => ({
      cause: 'merge',
      files: {[QUEUE]: `${e.files[QUEUE]}\nmine\n`},
      ...over,
    });
    expect(await kinds([a, b, c, d, e, stale, merged(), f, g, h])).toEqual([]);
    expect(await kinds([a, b, c, d, e, stale, merged({cause: 'recovered'}), f, g, h])).toEqual([]);
    // It was started before the daemon saw that save.
    expect(await kinds([a, b, c, d, e, stale, f, merged(), g, h])).toEqual([]);
    expect(await kinds([a, b, c, d, e, stale, f, g, merged()])).toEqual([]);
    // Twice in a row, and by a save from before the request was there.
    expect(await kinds([a, b, c, d, e, stale, merged(), stale, merged(), f, g, h])).toEqual([]);
    const older: Step = {by: 'Ada', files: {[QUEUE]: '# Approvals\n\nmine\n'}};
    expect(await kinds([a, b, c, d, e, older, f, merged(), g, h])).toEqual([]);
  });

  it('finds a yes that was taken back, whatever the daemon wrote later', async () => {
    const [a, b, c, d, e, f, g, h] = goodStory();
    const back: Step = {by: 'Ada', files: {[QUEUE]: queueOf({})}};
    const again: Step = {files: e.files, cause: 'merge'};
    // Nobody merged it.
    expect(await kinds([a, b, c, d, e, back, f, g])).toEqual(['undecided']);
    expect(await kinds([a, b, c, d, e, back, f, g, h])).toEqual(['undecided']);
    expect(await kinds([a, b, c, d, e, back, {files: e.files}, f, g])).toEqual(['undecided']);
    // Not the daemon, or not right after it: somebody saw it un-ticked.
    expect(await kinds([a, b, c, d, e, back, {...again, by: 'executor-001'}, f, g])).toEqual([
      'agent-decided',
      'agent-wrote',
      'undecided',
    ]);
    const noted: Step = {files: {[QUEUE]: `${queueOf({})}\nnoted\n`}};
    expect(await kinds([a, b, c, d, e, back, noted, again, f, g])).toEqual(['undecided']);
    expect(await kinds([a, b, c, d, e, back, f, noted, again, g])).toEqual(['undecided']);
    // A tick that the daemon had never taken, and a merge that makes another decision of it.
    expect(await kinds([a, b, c, d, back, again, f, g])).toEqual(['undecided']);
    const other = queueOf({box: 'x', fields: {status: 'approved', approved_at: timeOf(4), approved_by: 'Eve'}});
    expect(await kinds([a, b, c, d, e, back, {...again, files: {[QUEUE]: other}}, f, g])).toEqual(['undecided']);
    // A no is one, also if it stood there only for a moment.
    const no: Step = {by: 'Ada', files: {[QUEUE]: queueOf({box: '-'})}};
    expect(await kinds([a, b, c, d, e, no, again, f, g])).toEqual(['rejected']);
  });

  it('knows a start that a no overtook, and that nothing came of', async () => {
    const [a, b, c, d, e, f, g] = goodStory();
    const no: Step = {by: 'Ada', files: {[QUEUE]: queueOf({box: '-'})}};
    const ended = (result: object): Step => ({...g, files: {[SESSION]: sessionOf(started, result)}});
    const refused = ended({success: false, code: 'REJECTED', error: 'nothing was run'});
    expect(await kinds([a, b, c, d, e, no, f, refused])).toEqual([]);
    // It ran, it may have run, or it said so of another call.
    expect(await kinds([a, b, c, d, e, no, f, g])).toEqual(['rejected']);
    expect(await kinds([a, b, c, d, e, no, f])).toEqual(['rejected']);
    expect(await kinds([a, b, c, d, e, no, f, g, refused])).toEqual(['rejected', 'result-changed']);
    expect(await kinds([a, b, c, d, e, no, f, ended({success: false, code: 'INTERRUPTED', error: 'x'})])).toEqual([
      'rejected',
    ]);
  });

  it('follows merges: what was decided on the branch that the call started on counts', async () => {
    const [a, b, c, d, e, f, g] = goodStory();
    const notes = {by: 'Ada', files: {'memory/x.md': 'x\n'}} as const;
    // 1 2 3 4 are common; 5 6 7 on one branch, 8 on the other, 9 merges them.
    const merged: Step = {by: 'Ada', files: {...e.files, ...g.files}, after: [8, 7]};
    expect(await kinds([a, b, c, d, e, f, g, {...notes, after: [4]}, merged])).toEqual([]);
    // Decided on one, started on the other.
    const apart: Step[] = [a, b, c, d, {...f, after: [3]}, {by: 'Ada', files: {...d.files}, after: [5, 4]}];
    expect(await kinds(apart)).toEqual(['undecided']);
  });

  it('tells of files that cannot be read, and goes on with what they said before', async () => {
    const broken: Step = {by: 'Ada', files: {'allowlist.yaml': 'commands: [', [SESSION]: 'agent_id: ['}};
    const [a, b, c, d, e, f, g, h] = goodStory();
    const mended: Step = {by: 'Ada', files: settings};
    expect(await look([a, b, c, d, e, broken, f, g, mended, h])).toMatchObject({findings: [], unread: [], passing: 2});
    const left = await look([...goodStory(), broken]);
    expect(left.unread.map(({path}) => path).sort()).toEqual(['allowlist.yaml', SESSION]);
    // Nobody can look into what was removed unread.
    const gone = await look([...goodStory(), broken, {by: 'Ada', files: {[SESSION]: undefined}}]);
    expect(gone.unread.map(({path}) => path)).toContain(SESSION);
  });
});

describe('agentdir verify', () => {
  it('prints findings by session, with what to do, and exits 1, 4 or 0', async () => {
    const bad = pastHome(storyWith({4: undefined, 5: undefined}));
    const text = await agentdir(bad, ['verify']);
    expect(text.code, text.stderr).toBe(1);
    expect(text.stdout).toMatch(
      /^session s1\n {2}✗ [0-9a-f]{10} 2026-11-16T10:00:04\S* execute_command c1: approval a1 was not/,
    );
    expect(text.stdout).toContain('1 finding in 6 commits, 1 execution, 1 decision');
    const json = await agentdir(bad, ['verify', '--json', 'a1']);
    expect(JSON.parse(json.stdout)).toMatchObject({
      commits: 6,
      findings: [{kind: 'undecided', session: 's1', approval: 'a1'}],
    });
    const unread = await agentdir(pastHome([...goodStory(), {by: 'Ada', files: {[SESSION]: '['}}]), ['verify']);
    expect(unread.code).toBe(4);
    expect(unread.stdout).toContain(`${SESSION} cannot be read`);
  });

  it('says what a shallow clone lacks, and judges what it has', async () => {
    const full = pastHome([...goodStory(), {by: 'Ada', files: {'memory/x.md': 'x\n'}}]);
    const clone = join(temporary(), 'clone');
    execFileSync('git', ['clone', '-q', '--depth', '2', `file://${full}`, clone], {env: environment});
    const {code, stdout} = await agentdir(clone, ['verify', 's1']);
    expect(stdout).toContain('shallow clone');
    expect(code).toBe(0);
    if (thorough) expect((await agentdir(clone, ['verify', 'nobody'])).code).toBe(2);
  });
});

describe.skipIf(spawnSync('ssh-keygen', ['-?']).error)('with signers (skipped without ssh-keygen)', () => {
  it('wants a signature of one of them', async () => {
    const keys = temporary();
    for (const name of ['ada', 'eve'])
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', join(keys, name)]);
    const line = (name: string) => `${name} ${readFileSync(join(keys, `${name}.pub`), 'utf8')}`;
    const signedBy = async (name: string, edited?: string) => {
      const text = signedText({id: 'a1', digest: digest(), decision: 'approved', edited});
      const made = await sign(text, join(keys, name));
      return 'signature' in made ? made.signature : '';
    };
    const first: Partial<Step> = {
      files: {
        ...settings,
        'agentdir.yaml': 'format: 1\napprovals: {signers: keys/signers}\n',
        'keys/signers': line('ada'),
      },
    };
    const steps = (fields: Record<string, string>): Step[] => [
      {...goodStory()[0], ...first},
      ...withItem({fields}).slice(1),
    ];
    expect(await kinds(steps({}))).toEqual(['signature']);
    expect(await kinds(steps({signature: await signedBy('ada')}))).toEqual([]);
    expect(await kinds(steps({signature: await signedBy('eve')}))).toEqual(['signature']);
    const edited = {edited: 'true', command: 'docker ps', original: 'docker restart redis'};
    expect(await kinds(steps({...edited, signature: await signedBy('ada')}))).toEqual(['signature']);
    expect(await kinds(steps({...edited, signature: await signedBy('ada', 'docker ps')}))).toEqual([]);
    // Who was taken off the list since then could sign at the time.
    const later: Step = {by: 'Ada', files: {'keys/signers': line('eve')}};
    expect(await kinds([...steps({signature: await signedBy('ada')}), later])).toEqual([]);
  });
});
