import {readdirSync, readlinkSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, expect, it, onTestFinished} from 'vitest';
import {put, until} from '../cli/run.ts';
import {startFakeOpenAI} from '../model/fake-openai.mjs';
import {read, serve} from './serve.ts';
import {homes} from './sound.ts';

/** SESSIONS=500 npx vitest run test/daemon/descriptors.test.ts: as many as a busy home has at work at once. */
const SESSIONS = Number(process.env.SESSIONS ?? 120);
/** Half of what a process gets on many machines. It does not grow with the sessions. */
const MOST = 512;

/** Of each conversation the first try fails, then a command is called for, then all is well. */
const server = await startFakeOpenAI({
  keep: false,
  answer: ({messages}) => {
    const id = messages.find(({role}) => role === 'user')?.content ?? '';
    const tries = (asked.get(id) ?? 0) + 1;
    asked.set(id, tries);
    if (tries === 1) return {status: 503};
    if (tries === 2) return {calls: [{name: 'execute_command', arguments: {command: 'sleep 2'}}], latency: 200};
    return {text: 'all is well', latency: 200};
  },
});
const asked = new Map<string, number>();
afterAll(() => server.close());

const names = Array.from({length: SESSIONS}, (_, i) => `a${i}`);
const newHome = homes({
  'agentdir.yaml': 'format: 1\nconcurrency: 64\n',
  'allowlist.yaml': 'version: 1\ncommands: {allow: ["sleep *"]}\n',
  ...Object.fromEntries(
    names.map(name => [
      `templates/${name}.agent.yaml`,
      `id: ${name}\ntype: worker\nsystem_prompt: You work.\ncapabilities: [execute_command]\n`,
    ]),
  ),
});

/** What a process has open, by kind. */
function openOf(pid: number): Map<string, number> {
  const kinds = new Map<string, number>();
  for (const fd of readdirSync(`/proc/${pid}/fd`)) {
    let kind = 'gone';
    try {
      kind = readlinkSync(`/proc/${pid}/fd/${fd}`).replace(/[:/].*\/|\d+/g, (part: string) =>
        part.includes('/') ? '/' : '',
      );
    } catch {}
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  return kinds;
}

const sum = (kinds: Map<string, number>) => [...kinds.values()].reduce((all, one) => all + one, 0);

it(`${SESSIONS} agents that ask, fail and run commands at once take fewer than ${MOST} file descriptors`, async () => {
  const home = newHome();
  put(
    home,
    Object.fromEntries(
      names.map(name => [
        `sessions/${name}.session.yaml`,
        `agent_id: ${name}\nmessages:\n  - role: user\n    content: ${name}\n`,
      ]),
    ),
  );
  const served = await serve(home, {OPENAI_BASE_URL: server.url, OPENAI_MODEL: 'fake-1'});
  let peak = new Map<string, number>();
  const timer = setInterval(() => {
    const now = openOf(served.pid);
    if (sum(now) > sum(peak)) peak = now;
  }, 20);
  onTestFinished(() => clearInterval(timer));
  await until(
    () => names.filter(name => !read(home, join('sessions', `${name}.session.yaml`)).includes('all is well')).length,
    left => left === 0,
    300_000,
  );
  clearInterval(timer);
  if (process.env.SESSIONS) console.log(sum(peak), [...peak].sort((a, b) => b[1] - a[1]).slice(0, 12));
  expect(sum(peak), JSON.stringify([...peak])).toBeLessThan(MOST);
  expect(await served.stop(), served.errors()).toBe(0);
}, 400_000);
