#!/usr/bin/env node
/**
 * docs/pictures/chat.svg: what chat looks like. A home is made, a real daemon serves it with a model that follows a script, chat runs in
 * tmux, and its screen is drawn as it is captured.
 *
 *   npm run build && node scripts/picture-chat.mjs        needs tmux and git
 */
import {execFileSync, spawn} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {startFakeOpenAI} from '../test/model/fake-openai.mjs';
import {colourCode, drawWindows} from './draw-terminal.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const out = join(root, 'docs/pictures/chat.svg');
const program = join(root, 'bin/main.js');
const [COLUMNS, ROWS] = [100, 36];
const dir = mkdtempSync(join(tmpdir(), 'agentdir-picture-'));
const home = join(dir, 'agents');
const env = {
  PATH: process.env.PATH,
  TERM: 'xterm-256color',
  LANG: 'C.UTF-8',
  HOME: dir,
  ...{GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.org'},
  ...{GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.org', GIT_CONFIG_NOSYSTEM: '1'},
};

const FINDINGS = `The cache evicts nothing, so writes fail when it is full:

- \`maxmemory-policy\` is \`noeviction\`
- the **nightly export** fills it at 02:00

I noted the fix. @executor-001 can apply it while the service runs.`;

/** What the model says to what it was asked or told last. */
function reply({messages}) {
  const usage = {prompt_tokens: 3_120, completion_tokens: 184};
  const last = messages.at(-1);
  const asked = String(messages.findLast(({role}) => role === 'user')?.content);
  if (/apply/.test(asked))
    return {
      usage,
      calls: [
        {
          name: 'execute_command',
          arguments: {
            command: 'redis-cli -h cache-1 config set maxmemory-policy allkeys-lru',
            reason: 'Writes fail until old keys may be evicted.',
          },
        },
      ],
    };
  if (/README/.test(asked)) return {text: 'I am reading the README of the service. '.repeat(200), delay: 200};
  if (last.role === 'user')
    return {
      usage,
      text: 'Let me look at the configuration.',
      calls: [
        {name: 'read_file', arguments: {path: 'redis.conf'}},
        {name: 'edit_file', arguments: {path: 'redis.conf', old: 'noeviction', new: 'allkeys-lru'}},
      ],
    };
  return {text: FINDINGS, usage};
}

/** tmux writes a colour that goes on in the next line only once. */
function withOwnColours(lines) {
  let colours = '';
  return lines.map(line => {
    const own = colours + line;
    for (const [code] of line.matchAll(colourCode)) colours = /\[0?m$/.test(code) ? '' : colours + code;
    return own;
  });
}

const run = (command, ...args) => execFileSync(command, args, {cwd: dir, env, encoding: 'utf8'});
const tmux = (...args) => run('tmux', '-S', join(dir, 'tmux'), '-f', '/dev/null', ...args);
const screen = () => tmux('capture-pane', '-p', '-e', '-t', 'chat');
const press = (...keys) => tmux('send-keys', '-t', 'chat', ...keys);

async function shows(text) {
  for (let tries = 0; tries < 400; tries++) {
    if (tmux('capture-pane', '-p', '-t', 'chat').includes(text)) return;
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  throw new Error(`chat does not show ${text}:\n${screen()}`);
}

const server = await startFakeOpenAI({answer: reply});
let daemon;
try {
  run(process.execPath, program, 'init', home);
  const prices = 'price: {input: 3, output: 15}, context_tokens: 200000';
  writeFileSync(
    join(home, 'agentdir.yaml'),
    `format: 1\nname: agents\ndefault_agent: coder\nmodels: [{id: sonnet, base_url: "${server.url}", ${prices}}]\n`,
  );
  writeFileSync(join(home, 'allowlist.yaml'), 'version: 1\ntools: {write_file: allow, edit_file: allow}\n');
  run('mkdir', '-p', join(home, 'workspaces/coder'));
  writeFileSync(join(home, 'workspaces/coder/redis.conf'), 'maxmemory 2gb\nmaxmemory-policy noeviction\nsave 900 1\n');
  daemon = spawn(process.execPath, [program, '--home', home, 'start'], {
    cwd: dir,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise(resolve => daemon.stdout.once('data', resolve));
  daemon.stdout.resume();

  const command = `'${process.execPath}' '${program}' --home '${home}' chat`;
  tmux('new-session', '-d', '-s', 'chat', '-x', String(COLUMNS), '-y', String(ROWS), command);
  await shows('message @coder');
  press('-l', '@executor-001 apply it');
  press('Enter');
  await shows('y yes');
  press('-l', '@planner-001 summarize the README of the service');
  press('Enter');
  await shows('@planner-001 works');
  press('-l', 'Redis refuses writes at night. Why?');
  press('Enter');
  await shows('while the service runs');
  const lines = withOwnColours(screen().replace(/\s+$/, '').split('\n'));
  const [x, y] = tmux('display-message', '-p', '-t', 'chat', '#{cursor_x} #{cursor_y}').split(' ').map(Number);
  const neutral = lines.map(line => line.replaceAll(dir, '/home/ada'));
  writeFileSync(out, drawWindows([{title: 'agentdir', lines: neutral, cursor: {x, y}}], COLUMNS));
  console.log(out);
} finally {
  try {
    tmux('kill-server');
  } catch {
    // It has not been started.
  }
  daemon?.kill('SIGKILL');
  await server.close();
  rmSync(dir, {recursive: true, force: true, maxRetries: 20, retryDelay: 100});
}
