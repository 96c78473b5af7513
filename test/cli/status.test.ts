import {appendFileSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import type {DaemonStatus} from '../../src/home/status.ts';
import {serve} from '../daemon/serve.ts';
import {agentdir, newHome, until} from './run.ts';

const status = async (home: string) => (await agentdir(home, ['status'])).stdout;

describe('agentdir status', () => {
  it('names what waits, and the command for it, with a daemon and without', async () => {
    const home = await newHome({
      'sessions/broken.session.yaml':
        'agent_id: planner-001\nstatus: error\nerror: the server said no\nmessages:\n  - role: user\n    content: hi\n',
      'tasks/mine.task.md': '## TODO\n\n- [ ] @human "Read the report"\n  id: read-report\n',
      'playbooks/x.playbook.yaml': 'format: 1\nformat: 2\n',
    });
    const names = (text: string) => {
      expect(text).toMatch(/1 approval waits for you: agentdir approvals\n {4}\w+ {2}command: echo "Hello/);
      expect(text).toContain('1 session ended in an error: agentdir show ID\n    broken  the server said no');
      expect(text).toContain('1 error: agentdir check\n    playbooks/x.playbook.yaml:2  expected each key once');
      expect(text).toContain('1 task waits for you: agentdir tasks\n    read-report  Read the report');
    };
    const served = await serve(home);
    await agentdir(home, ['send', 'show me an approval', '--to', 'executor-001']);
    names(
      await until(
        () => status(home),
        text => text.includes('1 approval waits') && text.includes('1 error: '),
      ),
    );
    await served.stop();
    names(await status(home));
  });

  it('names three of a kind and counts the rest', async () => {
    const tasks = [1, 2, 3, 4, 5].map(
      n => `- [ ] @human "Task ${n}"\n  id: t${n}\n  created: 2026-01-0${n}T00:00:00Z\n`,
    );
    const home = await newHome({'tasks/t.task.md': `## TODO\n\n${tasks.join('')}`});
    expect(await status(home)).toContain(
      '5 tasks wait for you: agentdir tasks\n    t5  Task 5\n    t4  Task 4\n    t3  Task 3\n    … and 2 more\n',
    );
  });

  it('says where a line of an inbox went, as does the log', async () => {
    const home = await newHome();
    await serve(home);
    appendFileSync(join(home, 'inbox/try.jsonl'), '{"text": "hello", "from": "boss"}\n');
    const text = await until(
      () => status(home),
      text => text.includes('went to'),
    );
    const [, session = ''] = /inbox\/try\.jsonl: .*line 1 went to (planner-001-\S+)/.exec(text) ?? [];
    expect(session).not.toBe('');
    const log = await until(
      async () => (await agentdir(home, ['log', 'inbox/try.jsonl'])).stdout,
      text => text.includes('read up to line 1'),
    );
    expect(log).toContain(`session ${session}: message from inbox/try.jsonl#1`);
    expect(log).toContain(`read up to line 1; the last one went to ${session}`);
    expect((await agentdir(home, ['log', 'try'])).stdout).toBe(log);
  });
});

describe('doctor, check and status', () => {
  it('count the same errors and warnings, with a daemon and without', async () => {
    const home = await newHome({
      'playbooks/x.playbook.yaml': 'format: 1\nformat: 2\n',
      'tasks/t.task.md': '## TODO\n\n- [ ] @nobody-here "x"\n  id: t1\n- [ ] @human "y"\n',
      'memory/m.md': `token: ghp_${'a1B2'.repeat(9)}\n`,
    });
    const agree = async () => {
      const [check, told, doctor] = await Promise.all(
        ['check', 'status', 'doctor'].map(async command => {
          const {stdout} = await agentdir(home, [command, '--json']);
          return JSON.parse(stdout) as unknown;
        }),
      );
      const {problems} = check as {problems: {severity: string}[]};
      const count = (severity: string) => problems.filter(each => each.severity === severity).length;
      const {errors, warnings, needs} = told as {errors: number; warnings: number; needs: number};
      expect({errors, warnings}).toEqual({errors: count('error'), warnings: count('warning')});
      expect(errors).toBeGreaterThan(0);
      const findings = doctor as {name: string; state: string; message: string}[];
      expect(findings.find(({name}) => name === 'files')).toMatchObject({
        state: 'bad',
        message: expect.stringMatching(new RegExp(`^${errors} errors?\\b`)),
      });
      expect(findings.find(({name}) => name === 'waiting')?.message).toMatch(new RegExp(`^${needs} thing`));
    };
    await agree();
    await serve(home);
    await until(
      async () => JSON.parse((await agentdir(home, ['status', '--json'])).stdout) as DaemonStatus,
      // With `since`, it is the daemon that says so.
      ({since, errors, needs}) => since !== undefined && errors > 0 && needs > 0,
    );
    await agree();
  });

  it('report a missing repository, and doctor a missing policy', async () => {
    const home = await newHome();
    rmSync(join(home, '.git'), {recursive: true});
    rmSync(join(home, 'allowlist.yaml'));
    expect(await agentdir(home, ['check'])).toMatchObject({
      code: 4,
      stdout: expect.stringMatching(
        /^\.git:1:1: error NO_REPOSITORY: .*\n {2}= .*agentdir init \.\n[\s\S]*1 error in 1 file /,
      ),
    });
    expect(await status(home)).toContain('1 error: agentdir check\n    .git:1  expected the home in a git repository');
    expect((await agentdir(home, ['doctor'])).stdout).toMatch(
      /✗ repository {2}none[\s\S]*! policy {6}there is no allowlist/,
    );
    // NEEDS_YOU.md is written by the daemon.
    expect(await status(home)).not.toContain('NEEDS_YOU.md');
    expect(await agentdir(home, ['init', '.'])).toMatchObject({code: 0, stdout: expect.stringContaining('1 file')});
    expect((await agentdir(home, ['check'])).code).toBe(0);
  });

  it('find nothing wrong with a new home', async () => {
    const home = await newHome();
    const findings = JSON.parse((await agentdir(home, ['doctor', '--json'])).stdout) as {name: string}[];
    expect(findings.find(({name}) => name === 'files')).toMatchObject({state: 'ok'});
    expect(findings.find(({name}) => name === 'waiting')).toBeUndefined();
    expect(await status(home)).toContain('nothing waits for you');
    expect((await agentdir(home, ['check'])).code).toBe(0);
  });
});
