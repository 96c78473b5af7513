#!/usr/bin/env node
/**
 * docs/pictures/first-minutes.svg: what a first session looks like. A home is made, a real daemon serves it in tmux, an
 * approval is ticked in vim, and the three screens are drawn as they are captured.
 *
 *   npm run build && node scripts/picture.mjs        needs tmux, vim and git
 */
import {execFileSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {colourCode, drawWindows} from './draw-terminal.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const out = join(root, 'docs/pictures/first-minutes.svg');
const COLUMNS = 100;
const dir = mkdtempSync(join(tmpdir(), 'agentdir-picture-'));
const home = join(dir, 'agents');
const socket = join(dir, 'tmux');
const env = {
  PATH: process.env.PATH,
  TERM: 'xterm-256color',
  LANG: 'C.UTF-8',
  HOME: dir,
  ...{GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.org'},
  ...{GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.org', GIT_CONFIG_NOSYSTEM: '1'},
};

const run = (command, ...args) => execFileSync(command, args, {cwd: dir, env, encoding: 'utf8'});
const tmux = (...args) => run('tmux', '-S', socket, '-f', '/dev/null', ...args);
const agentdir = (...args) => run(process.execPath, join(root, 'bin/main.js'), '--home', home, ...args);
const capture = name => tmux('capture-pane', '-p', '-e', '-S', '-', '-t', name).replace(/\s+$/, '').split('\n');

function open(name, columns, rows, command) {
  tmux('new-session', '-d', '-s', name, '-x', String(columns), '-y', String(rows), '-c', home, command);
}

/** As a person would see it: only once it is there. */
async function until(holds) {
  for (let tries = 0; tries < 400; tries++) {
    if (holds()) return;
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  throw new Error('waited in vain');
}

try {
  run(process.execPath, join(root, 'bin/main.js'), 'init', home);
  const queue = join(home, 'tasks/approvals.task.md');
  const shows = (name, text) => until(() => capture(name).join('\n').includes(text));

  open('daemon', 200, 40, `${process.execPath} ${join(root, 'bin/main.js')} start`);
  await shows('daemon', 'second terminal');
  agentdir('send', 'show me an approval', '--to', 'executor-001');
  await until(() => readFileSync(queue, 'utf8').includes('- [_] '));

  const settings = 'set nomodeline laststatus=0 noswapfile scrolloff=0 viminfo=';
  open('editor', COLUMNS, 14, `vim -Nu NONE --cmd '${settings}' tasks/approvals.task.md`);
  await shows('editor', '# Approvals');
  tmux('send-keys', '-t', 'editor', '/\\[_\\] A', 'Enter', 'zt', 'l', 'r', 'x');
  await shows('editor', '[x] A');
  const ticked = capture('editor').slice(0, 9);
  const [x, y] = tmux('display-message', '-p', '-t', 'editor', '#{cursor_x} #{cursor_y}').split(' ').map(Number);
  tmux('send-keys', '-t', 'editor', ':w', 'Enter');
  await until(() => /^ {2}outcome: done/m.test(readFileSync(queue, 'utf8')));
  await shows('daemon', 'done, exit code 0');

  writeFileSync(join(dir, '.gitconfig'), '[format]\n\tpretty = "%C(yellow)%h%Creset %<(13)%C(cyan)%an%Creset%s"\n');
  open('shell', COLUMNS, 20, "env PS1='$ ' GIT_PAGER=cat sh");
  await shows('shell', '$');
  tmux('send-keys', '-t', 'shell', 'git log -6 tasks approvals', 'Enter');
  await shows('shell', ' asked');
  tmux('send-keys', '-t', 'shell', 'cat workspaces/executor-001/hello.txt', 'Enter');
  await shows('shell', 'Hello from');
  const told = / (?:serving|model|sandbox) |asks you|approved .* by |called bash/;
  const daemon = capture('daemon').filter(
    line => told.test(plain(line)) && !/committed|second|root|=/.test(plain(line)),
  );
  writePicture([
    {title: 'agentdir start', lines: daemon},
    {title: 'vim tasks/approvals.task.md', lines: ticked, cursor: {x, y}},
    {title: 'what happened', lines: capture('shell').slice(0, -1)},
  ]);
} finally {
  try {
    tmux('kill-server');
  } catch {
    // It has not been started.
  }
  rmSync(dir, {recursive: true, force: true, maxRetries: 20, retryDelay: 100});
}

function plain(line) {
  return line.replace(colourCode, '');
}

function writePicture(windows) {
  const neutral = windows.map(({lines, ...rest}) => ({
    ...rest,
    lines: lines.map(line => line.replaceAll(dir, '/home/ada')),
  }));
  mkdirSync(dirname(out), {recursive: true});
  writeFileSync(out, drawWindows(neutral, COLUMNS));
  console.log(out);
}
