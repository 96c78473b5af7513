import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {sign} from '../../src/effects/signature/ssh-signature.ts';
import {signedText} from '../../src/formats/approval/approval-digest.ts';
import type {ApprovalItem} from '../../src/formats/approval/approval-item.ts';
import {agentdir, git, put, thorough, until} from '../cli/run.ts';
import {askedBy, decideInQueue, decideOnPage, field, itemsOf, pageOf, whenItem} from '../daemon/deciding.ts';
import {committed, read, serve} from '../daemon/serve.ts';
import {sessionOf} from '../daemon/talk.ts';
import {noBubblewrap} from '../effects/sandbox-home.ts';
import {AGENT, type CallOf, Court, command, POLICY} from './court.ts';

const court = new Court('world', {'agentdir.yaml': 'format: 1\n'});
const inWorkspace = (files: Record<string, string>) =>
  put(court.home, Object.fromEntries(Object.entries(files).map(([path, text]) => [`workspaces/talker/${path}`, text])));

/** A file of the home that a person changes; when the daemon knows. */
async function change(path: string, text: string): Promise<void> {
  put(court.home, {[path]: text});
  await committed(court.home, path, found => found === text);
}

describe.runIf(thorough)('scripts swapped', () => {
  const scripts: [line: string, file: string, mild: string | undefined, wild: (line: string) => string][] = [
    ['bash run.sh', 'run.sh', 'echo mild\n', line => `${line}\n`],
    ['./prog', 'prog', '#!/bin/sh\necho mild\n', line => `#!/bin/sh\n${line}\n`],
    ['make', 'Makefile', 'all:\n\techo mild\n', line => `all:\n\t${line}\n`],
    ['npm test', 'package.json', '{"scripts":{"test":"echo"}}', line => JSON.stringify({scripts: {test: line}})],
    ['bash later.sh', 'later.sh', undefined, line => `${line}\n`],
    ['cd sub && sh ./x.sh', 'sub/x.sh', 'echo mild\n', line => `${line}\n`],
    ['sh -c ". ./lib.sh"', 'lib.sh', 'echo mild\n', line => `${line}\n`],
    ['sh "$PWD/pwd.sh"', 'pwd.sh', 'echo mild\n', line => `${line}\n`],
    ['sh $(pwd)/pwd2.sh', 'pwd2.sh', 'echo mild\n', line => `${line}\n`],
    ['sh ~+/tilde.sh', 'tilde.sh', 'echo mild\n', line => `${line}\n`],
    ['D=sub; sh $D/in.sh', 'sub/in.sh', 'echo mild\n', line => `${line}\n`],
    ['A=part; sh $A.sh', 'part.sh', 'echo mild\n', line => `${line}\n`],
    ['cd su*; sh ./glob.sh', 'sub/glob.sh', 'echo mild\n', line => `cd ..; ${line}\n`],
    ['python3 -c "import x"', 'x.py', 'print(1)\n', line => `import os; os.system('${line}')\n`],
  ];
  it.each(scripts)(
    '%s: what it runs has changed since it was asked, so it is asked anew',
    async (line, file, mild, wild) => {
      if (mild !== undefined) inWorkspace({[file]: mild});
      const canary = court.canary(0);
      const session = court.calling([command(line)]);
      const {id} = await askedBy(court.home, session);
      inWorkspace({[file]: wild(canary.line)});
      decideInQueue(court.home, id, 'x');
      await court.askedAnew({session, id});
    },
  );

  it('through a link', async () => {
    inWorkspace({'mild.sh': 'echo mild\n'});
    symlinkSync('mild.sh', court.inWorkspace('link.sh'));
    const canary = court.canary(0);
    const session = court.calling([command('bash link.sh')]);
    const {id} = await askedBy(court.home, session);
    inWorkspace({'wild.sh': `${canary.line}\n`});
    rmSync(court.inWorkspace('link.sh'));
    symlinkSync('wild.sh', court.inWorkspace('link.sh'));
    decideInQueue(court.home, id, 'x');
    await court.askedAnew({session, id});
  });

  it('not by other calls that were approved too: those are no reason to ask anew', async () => {
    const canaries = [court.canary(1), court.canary(1), court.canary(1)];
    const session = court.calling(canaries.map(({line}) => command(line)));
    const items = await court.asked(session, 'call0', 'call1', 'call2');
    for (const {id} of items) decideInQueue(court.home, id, 'x');
    expect(await court.results(session)).toMatchObject([{success: true}, {success: true}, {success: true}]);
    expect(canaries.map(canary => canary.runs())).toEqual([1, 1, 1]);
  });

  it.each(['.output/part.sh', '.untrusted/part.sh', 'deep/…/part.sh'])('as far as it may read: %s', async name => {
    const path = name.replace('…/', 'deep/'.repeat(210));
    const session = court.calling([command('make -f build.mk')]);
    const {id} = await askedBy(court.home, session);
    mkdirSync(dirname(court.inWorkspace(path)), {recursive: true});
    writeFileSync(court.inWorkspace(path), 'evil');
    decideInQueue(court.home, id, 'x');
    await court.askedAnew({session, id});
    rmSync(court.inWorkspace(path.split('/')[0] ?? ''), {recursive: true});
  });

  it('between the tick and the start, by a call before it', async () => {
    inWorkspace({'both.sh': 'echo mild\n'});
    const canary = court.canary(0);
    const session = court.calling([command(`echo '${canary.line}' > both.sh`), command('bash both.sh')]);
    const [one, two] = await court.asked(session, 'call0', 'call1');
    decideInQueue(court.home, two?.id, 'x');
    await whenItem(court.home, two?.id, ({status}) => status === 'approved');
    decideInQueue(court.home, one?.id, 'x');
    await court.askedAnew({session, id: two?.id});
  });

  it('a file under an edit is another now, so it is asked anew or cannot be done', async () => {
    inWorkspace({'edit.txt': 'a\nb\n'});
    const session = court.calling([{name: 'edit_file', arguments: {path: 'edit.txt', old: 'b', new: 'c'}}]);
    const {id} = await askedBy(court.home, session);
    court.atOnce(() => {
      inWorkspace({'edit.txt': 'evil\nb\n'});
      decideInQueue(court.home, id, 'x');
    });
    await court.askedAnew({session, id});
    expect(readFileSync(court.inWorkspace('edit.txt'), 'utf8')).toBe('evil\nb\n');
  });
});

/** It is allowed, in the sandbox, where it sees by the git-dir when another call begins: then it swaps what that runs. */
const SWAP = (script: string, line: string) => `d=$(git rev-parse --git-dir)/agentdir-calls
touch lurking
while [ $SECONDS -lt 3 ]; do
  set -- "$d"/*
  [ $# -lt 2 ] || { echo '${line}' > ${script}; exit; }
done
`;

describe.skipIf(noBubblewrap)('scripts swapped by what runs beside', () => {
  it.each(thorough ? ['host', 'sandbox'] : ['host'])('on the %s: it begins when that has ended', async where => {
    const {home} = court;
    const canary = court.canary(0);
    const script = `beside-${where}.sh`;
    await change('allowlist.yaml', POLICY.replace('"cat *"', '"cat *", "bash swap.sh"'));
    inWorkspace({[script]: `echo mild > mild-${where}\n`, 'swap.sh': SWAP(script, canary.line)});
    const swapper = court.calling([command('bash swap.sh')]);
    await until(() => existsSync(court.inWorkspace('lurking')), Boolean);
    const session = court.calling([command(`sh ./${script}`, where === 'host' ? {sandbox: 'host'} : {})]);
    const {id} = await askedBy(home, session);
    decideInQueue(home, id, 'x');
    const begun = () => sessionOf(home, session).messages.flatMap(({tool_calls = []}) => tool_calls)[0]?.started;
    await until(begun, Boolean);
    expect(await court.results(session)).toMatchObject([{success: true, ran: where}]);
    expect(canary.runs()).toBe(0);
    expect(existsSync(court.inWorkspace(`mild-${where}`))).toBe(true);
    expect(await court.results(swapper)).toMatchObject([{success: true, ran: 'sandbox'}]);
    rmSync(court.inWorkspace('lurking'));
    await change('allowlist.yaml', POLICY);
  });
});

/** Two calls, the second approved and waiting for the first: then `between`, then the first is rejected. */
async function behind(
  call: CallOf,
  between: (item: ApprovalItem) => Promise<void>,
  fieldsFor: (item: ApprovalItem) => Promise<Record<string, string>> = async () => ({}),
): Promise<{session: string; id: string | undefined}> {
  const session = court.calling([command('echo first > first.txt'), call]);
  const [one, two] = await court.asked(session, 'call0', 'call1');
  if (!two) throw new Error('not asked');
  decideInQueue(court.home, two.id, 'x', await fieldsFor(two));
  await whenItem(court.home, two.id, ({status}) => status === 'approved');
  await between(two);
  decideInQueue(court.home, one?.id, '-');
  return {session, id: two.id};
}

describe.runIf(thorough)('the world changes between the tick and the start', () => {
  it('a policy that denies it now', async () => {
    const {line} = court.canary(0);
    const denies = POLICY.replace('"rm -rf *"', '"rm -rf *", "echo *"');
    const {session} = await behind(command(line), () => change('allowlist.yaml', denies));
    // The first is denied as well by now.
    expect((await court.results(session)).at(-1)).toMatchObject({code: 'DENIED'});
    await change('allowlist.yaml', POLICY);
  });

  it('a capability that is taken away', async () => {
    const {line} = court.canary(0);
    const less = AGENT.replace('execute_command, ', '');
    const {session} = await behind(command(line), () => change('templates/talker.agent.yaml', less));
    expect((await court.results(session)).at(-1)).toMatchObject({code: 'NOT_ALLOWED'});
    await change('templates/talker.agent.yaml', AGENT);
  });

  it('a template that is removed', async () => {
    const {line, runs} = court.canary(0);
    const path = 'templates/talker.agent.yaml';
    const {session, id} = await behind(command(line), async () => {
      rmSync(join(court.home, path));
      await court.told('MISSING_TEMPLATE');
    });
    decideInQueue(court.home, id, '-');
    await whenItem(court.home, id, ({decision}) => decision === 'rejected');
    expect(runs()).toBe(0);
    await change(path, AGENT);
    expect((await court.results(session)).at(-1)).toMatchObject({success: false});
  });

  it('a sandbox that is off now', async () => {
    const {line} = court.canary(0);
    const {session, id} = await behind(command(line), () => change('agentdir.yaml', 'format: 1\nsandbox: off\n'));
    // The first may have been asked anew as well, before it was rejected.
    await until(() => {
      const open = itemsOf(court.home).find(
        item => item.session === session && item.call === 'call0' && item.status === 'pending' && !item.decision,
      );
      if (open) decideInQueue(court.home, open.id, '-');
      return sessionOf(court.home, session).messages.some(({tool_call_id}) => tool_call_id === 'call0');
    }, Boolean);
    await court.askedAnew({session, id});
    await change('agentdir.yaml', 'format: 1\n');
  });
});

describe.runIf(thorough)('signatures', () => {
  const keyOf = (name: string) => join(court.home, '..', name);
  const signedBy = async (name: string, {id = '', digest = ''}: ApprovalItem, rejects = false) => {
    const text = signedText({id, digest, decision: rejects ? 'rejected' : 'approved', edited: undefined});
    const signed = await sign(text, keyOf(name));
    return {signature: 'signature' in signed ? signed.signature : ''};
  };

  const wanted = 'format: 1\napprovals: {signers: ../signers}\n';
  const allow = (name: string) =>
    put(court.home, {'../signers': `ada@example.org ${readFileSync(`${keyOf(name)}.pub`, 'utf8')}`});

  it('where they are wanted, nothing else counts', async () => {
    for (const name of ['ada', 'eve']) execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', keyOf(name)]);
    allow('ada');
    await change('agentdir.yaml', wanted);
    const other = await court.asks(1);
    const edited = 'echo edited > edited-signed.txt';
    const now = new Date().toISOString();
    const bad = 'its signature does not count';
    const tries: [(item: ApprovalItem) => Promise<Record<string, string>>, string][] = [
      [async () => ({}), 'it is not signed'],
      [async () => ({status: 'approved', approved_by: 'Ada', approved_at: now}), 'it is not signed'],
      [async () => ({signature: 'AAAA'}), bad],
      [item => signedBy('eve', item), bad],
      [() => signedBy('ada', other.item), bad],
      [item => signedBy('ada', item, true), bad],
      [async item => ({...(await signedBy('ada', item)), command: edited}), bad],
    ];
    for (const [fieldsFor, why] of tries) {
      const {id, item, session} = await court.asks(0);
      decideInQueue(court.home, id, 'x', await fieldsFor(item));
      await court.told(`approval ${id}: ${why}`);
      await court.refuse(session, id);
    }
    expect(existsSync(court.inWorkspace('edited-signed.txt'))).toBe(false);
    decideInQueue(court.home, other.id, 'x', await signedBy('ada', other.item));
    expect(await court.results(other.session)).toMatchObject([{success: true}]);
    expect(other.runs()).toBe(1);
    await change('agentdir.yaml', 'format: 1\n');
  });

  it('wanted since the tick: it waits, and runs when it is signed', async () => {
    const {line, runs} = court.canary(1);
    const {session, id = ''} = await behind(command(line), () => change('agentdir.yaml', wanted));
    await court.told(`approval ${id}: it is not signed`);
    expect(runs()).toBe(0);
    const signed = await agentdir(court.home, ['approve', id, '--key', keyOf('ada')]);
    expect(signed).toMatchObject({code: 0, stderr: ''});
    expect((await court.results(session)).at(-1)).toMatchObject({success: true});
    expect(runs()).toBe(1);
    await change('agentdir.yaml', 'format: 1\n');
  });

  it.each<[string, string, (item: ApprovalItem) => Promise<void> | void]>([
    ['taken out', 'it is not signed', ({id}) => decideInQueue(court.home, id, 'x', {signature: undefined})],
    [
      'put in place of',
      'its signature',
      async item => decideInQueue(court.home, item.id, 'x', await signedBy('eve', item)),
    ],
    ['of one who may not sign any more', 'its signature', () => allow('eve')],
  ])('%s since the tick: it does not run', async (_, why, between) => {
    await change('agentdir.yaml', wanted);
    const {line, runs} = court.canary(0);
    const {session, id} = await behind(
      command(line),
      async item => {
        await between(item);
        await committed(court.home, 'tasks/approvals.task.md', () => true);
      },
      item => signedBy('ada', item),
    );
    await court.told(`approval ${id}: ${why}`);
    expect(runs()).toBe(0);
    await court.refuse(session, id);
    await until(
      () => read(court.home, 'NEEDS_YOU.md'),
      text => !text.includes(`approval ${id}: `),
    );
    allow('ada');
    await change('agentdir.yaml', 'format: 1\n');
  });
});

describe.runIf(thorough)('always', () => {
  it('of what no rule can allow adds none', async () => {
    const {id, session} = await court.asks(1);
    decideInQueue(court.home, id, 'x', {always: 'true'});
    expect(await court.results(session)).toMatchObject([{success: true}]);
    expect(field(await whenItem(court.home, id, ({outcome}) => outcome !== undefined), 'rule')).toContain('none');
    expect(read(court.home, 'allowlist.yaml')).toBe(POLICY);
  });

  it('of an edited command adds none, neither for what was asked nor for what runs', async () => {
    const session = court.calling([command('touch asked.txt')]);
    const {id} = await askedBy(court.home, session);
    decideInQueue(court.home, id, 'x', {always: 'true', command: 'touch edited.txt'});
    expect(await court.results(session)).toMatchObject([{success: true}]);
    expect(field(await whenItem(court.home, id, ({outcome}) => outcome !== undefined), 'rule')).toContain('none');
    expect(read(court.home, 'allowlist.yaml')).toBe(POLICY);
  });

  it('twice, in both places, adds one rule for this agent and these words', async () => {
    const session = court.calling([command('touch once.txt')], [command('touch twice.txt')]);
    const {id} = await askedBy(court.home, session);
    court.atOnce(() => {
      decideOnPage(court.home, id, {decision: 'APPROVED', always: 'true'});
      decideInQueue(court.home, id, 'x', {always: 'true'});
    });
    const second = await askedBy(court.home, session, 1);
    const policy = read(court.home, 'allowlist.yaml');
    expect(policy.split('once.txt')).toHaveLength(2);
    expect(policy).not.toContain('*once');
    await court.refuse(session, second.id);
    await change('allowlist.yaml', POLICY);
  });

  it('with the flat allowlist says why none was added', async () => {
    await change('allowlist.yaml', 'cat: true\n');
    const session = court.calling([command('touch flat.txt')]);
    const {id} = await askedBy(court.home, session);
    decideInQueue(court.home, id, 'x', {always: 'true'});
    expect(await court.results(session)).toMatchObject([{success: true}]);
    const rule = field(await whenItem(court.home, id, ({outcome}) => outcome !== undefined), 'rule');
    if (!rule?.includes('none')) expect(read(court.home, 'allowlist.yaml')).toContain('touch flat.txt');
    await change('allowlist.yaml', POLICY);
  });
});

describe.runIf(thorough)('a command outside the sandbox', () => {
  const host = (text: string): CallOf => command(text, {sandbox: 'host'});
  const tick = `sed -i '/^- .*ran-/s/\\[_\\]/[x]/' tasks/approvals.task.md`;
  const commit =
    'for i in $(seq 40); do git -c gc.auto=0 -c user.name=E -c user.email=e@e commit -qam evil && break; sleep 0.05; done';
  const restored = async () => {
    await until(
      () => existsSync(join(court.home, 'conflicts')) && read(court.home, 'NEEDS_YOU.md').includes('conflicts/'),
      Boolean,
    );
    rmSync(join(court.home, 'conflicts'), {recursive: true});
    await until(
      () => read(court.home, 'NEEDS_YOU.md'),
      text => !text.includes('conflicts/'),
    );
  };

  const deeds: [string, string][] = [
    ['ticks another', tick],
    ['ticks another and commits it as a person would', `${tick}; ${commit}`],
    ['ticks another and stages it', `${tick}; git add tasks/approvals.task.md`],
    [
      'approves on its page',
      `sed -i 's/^.*Decision:.*$/**Decision:** APPROVED/' approvals/pending/*.approval.md; true`,
    ],
    ['allows it by a rule and commits that', `sed -i 's/"cat /"echo *", "cat /' allowlist.yaml; ${commit}`],
  ];
  it.each(deeds)('that %s decides nothing', async (_, line) => {
    const asked = await court.asks(0);
    const session = court.calling([host(`cd ${court.home}; ${line}`)]);
    const {id} = await askedBy(court.home, session);
    expect(pageOf(court.home, id).action.permissions).toContain('host');
    decideInQueue(court.home, id, 'x');
    expect(await court.results(session)).toMatchObject([{success: true, ran: 'host'}]);
    await restored();
    await whenItem(court.home, asked.id, ({decision, status}) => decision === undefined && status === 'pending');
    expect(read(court.home, 'allowlist.yaml')).toBe(POLICY);
    await court.refuse(asked.session, asked.id);
  });

  it('that deletes the queue and the pages has deleted nothing', async () => {
    const asked = await court.asks(0);
    const session = court.calling([host(`cd ${court.home}; rm -r tasks/approvals.task.md approvals/pending`)]);
    const {id} = await askedBy(court.home, session);
    decideInQueue(court.home, id, 'x');
    expect(await court.results(session)).toMatchObject([{ran: 'host'}]);
    await whenItem(court.home, asked.id, ({status}) => status === 'pending');
    expect((await whenItem(court.home, id, ({outcome}) => outcome !== undefined)).status).toBe('approved');
    await court.refuse(asked.session, asked.id);
  });

  it.each(['leaves it', 'commits it'])(
    'that forges, %s and kills the daemon has forged nothing, for the next one either',
    async how => {
      const asked = await court.asks(0);
      const evil = [
        `cd ${court.home}`,
        tick,
        `sed -i 's/"cat /"echo *", "cat /' allowlist.yaml`,
        'cp templates/talker.agent.yaml templates/evil.agent.yaml',
        'sed -i s/talker/evil/ templates/evil.agent.yaml',
        'mkdir -p workflows; printf "setup: [{shell: id}]\\nagents: {a: {system_prompt: a}}\\nkickoff: go\\n" | tee workflows/evil.yaml > workflows/evil.workflow.yaml',
        ...(how === 'commits it' ? [`git add -A templates; ${commit}`] : []),
        `kill -9 ${court.house.daemon.pid}`,
      ];
      const session = court.calling([host(evil.join('; '))]);
      const {id} = await askedBy(court.home, session);
      decideInQueue(court.home, id, 'x');
      expect(await court.house.daemon.exited).toBe('SIGKILL');
      court.house.daemon = await serve(court.home, court.house.stage.env, end => court.house.ends.push(end));
      expect(await court.results(session)).toMatchObject([{code: 'INTERRUPTED'}]);
      await restored();
      await whenItem(court.home, asked.id, ({decision, status}) => decision === undefined && status === 'pending');
      expect(read(court.home, 'allowlist.yaml')).toBe(POLICY);
      expect(existsSync(join(court.home, 'templates/evil.agent.yaml'))).toBe(false);
      for (const name of ['evil.workflow.yaml', 'evil.yaml'])
        expect(existsSync(join(court.home, 'workflows', name))).toBe(false);
      expect(await whenItem(court.home, id, ({outcome}) => outcome !== undefined)).toMatchObject({status: 'approved'});
      await court.refuse(asked.session, asked.id);
      // What it staged is no change of the daemon's to take back.
      const unstage = () => git(court.home, 'rm', '-q', '--cached', '--ignore-unmatch', 'templates/evil.agent.yaml');
      await until(
        () => unstage().then(Boolean, () => undefined),
        done => done !== undefined,
      );
    },
  );
});
