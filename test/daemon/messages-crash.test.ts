import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, expect, it} from 'vitest';
import {parseSession} from '../../src/formats/session/session.ts';
import {git, put, until} from '../cli/run.ts';
import {startFakeOpenAI} from '../model/fake-openai.mjs';
import {read, spawnDaemon} from './serve.ts';
import {expectSound, homes} from './sound.ts';

/** MESSAGES=10000 npx vitest run test/daemon/messages-crash.test.ts is the whole of what the issue asks for. */
const wanted = Number(process.env.MESSAGES ?? 120);
const AGENTS = wanted > 2_000 ? 50 : 12;
const PER_ANSWER = 5;
/** A machine that has other things to do brings a dozen a second. */
const PATIENCE_MS = Math.max(600_000, wanted * 120);
const rounds = Math.ceil(wanted / (AGENTS * PER_ANSWER));
const names = Array.from({length: AGENTS}, (_, i) => `agent-${String(i).padStart(2, '0')}`);

/** Each agent, told to go, sends so many messages in each of so many answers; what comes it only takes note of. */
const server = await startFakeOpenAI({
  keep: false,
  answer: ({messages}) => {
    const name = /^You are (\S+)\./.exec(String(messages[0]?.content))?.[1] ?? '';
    const go = messages.findIndex(({role, content}) => role === 'user' && content === 'go');
    const calls = messages.filter(({role}) => role === 'tool').length / PER_ANSWER;
    if (go === -1 || calls >= rounds) return {text: 'noted'};
    const me = names.indexOf(name);
    return {
      calls: Array.from({length: PER_ANSWER}, (_, k) => {
        const number = calls * PER_ANSWER + k;
        const to = names[(me + 1 + (number % (AGENTS - 1))) % AGENTS];
        return {id: `c${number}`, name: 'send_message', arguments: {to, content: `message ${number} of ${name}`}};
      }),
    };
  },
});
afterAll(() => server.close());

const newHome = homes({
  'agentdir.yaml': 'format: 1\nconcurrency: 32\n',
  ...Object.fromEntries(
    names.map(name => [
      `templates/${name}.agent.yaml`,
      `id: ${name}\ntype: worker\nmodel: fake-1\nsystem_prompt: You are ${name}.\ncapabilities: [send_message]\n`,
    ]),
  ),
});

interface Came {
  to: string;
  from: string;
  content: string;
}

function allThatCame(home: string): Came[] {
  return readdirSync(join(home, 'sessions'), {recursive: true})
    .map(String)
    .filter(path => path.endsWith('.session.yaml'))
    .flatMap(path => {
      const {header, messages} = parseSession(read(home, join('sessions', path)));
      return messages.flatMap(({role, from, content, in_reply_to}) =>
        role === 'user' && from?.startsWith('@') && in_reply_to === undefined
          ? [{to: header?.agent_id ?? '', from: from.slice(1), content: content ?? ''}]
          : [],
      );
    });
}

it(
  `${wanted} messages between agents, and the daemon killed again and again: each comes once, in order`,
  async () => {
    const home = newHome();
    put(
      home,
      Object.fromEntries(
        names.map(name => [
          `sessions/${name}-go.session.yaml`,
          `agent_id: ${name}\nmessages:\n  - role: user\n    content: go\n`,
        ]),
      ),
    );
    const total = AGENTS * rounds * PER_ANSWER;
    const env = {OPENAI_BASE_URL: server.url};
    let seed = Number(process.env.SEED ?? 7);
    const random = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed / 2 ** 31;
    };
    const kills = Number(process.env.KILLS ?? (wanted > 2_000 ? 20 : 5));
    // So they fall upon all of the work, and there is work for each.
    const most = (AGENTS * rounds * PER_ANSWER) / kills;
    for (let i = 0; i < kills; i++) {
      const daemon = spawnDaemon(home, env);
      const sent = Math.floor(random() * most);
      const later = Math.floor(random() * 20);
      await until(
        () => {
          const at = daemon.events.flatMap(({event}, n) => (event === 'called' ? [n] : []))[sent] ?? Number.NaN;
          return daemon.events.length > at + later || daemon.child.exitCode !== null;
        },
        yes => yes,
      );
      await daemon.kill();
    }
    const last = spawnDaemon(home, env);
    await until(
      async () => {
        // To look at all of them takes a while, too.
        await new Promise(resolve => setTimeout(resolve, wanted > 2_000 ? 2_000 : 200));
        const came = allThatCame(home).length;
        const busy = (await git(home, 'grep', '-l', '^status: active', '--', 'sessions').catch(() => '')).trim();
        return {came, busy, status: came < total || busy ? '' : await git(home, 'status', '--porcelain')};
      },
      ({came, busy, status}) => came >= total && busy === '' && status === '',
      PATIENCE_MS,
    );
    expect(await last.stop(), last.errors()).toBe(0);
    const came = allThatCame(home);
    expect(came).toHaveLength(total);
    const pairs = new Map<string, number[]>();
    for (const {to, from, content} of came) {
      const number = Number(/^message (\d+) of /.exec(content)?.[1]);
      pairs.set(`${from} → ${to}`, [...(pairs.get(`${from} → ${to}`) ?? []), number]);
    }
    for (const [pair, numbers] of pairs) {
      expect(new Set(numbers).size, pair).toBe(numbers.length);
      expect(numbers, pair).toEqual(numbers.toSorted((a, b) => a - b));
    }
    await expectSound(home);
    expect(server.violations).toEqual([]);
  },
  2 * PATIENCE_MS,
);
