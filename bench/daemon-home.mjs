import {execFileSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

export const program = fileURLToPath(new URL('../bin/main.js', import.meta.url));

/** Three messages, 1 KB, complete: as the daemon leaves a session. `note` makes it another text. */
export function sessionText(id, note = '') {
  return `# yaml-language-server: $schema=../../schemas/session.json
session_id: ${id}
agent_id: planner-001
agent_type: planner
model: default
system_prompt: |
  You plan, and you say what you plan. You plan, and you say what you plan.
  You plan, and you say what you plan. You plan, and you say what you plan.
created: '2025-10-04T10:05:00.000Z'
updated: '2025-10-04T10:06:00.000Z'
status: sleeping
messages:
  - timestamp: '2025-10-04T10:05:23.000Z'
    role: user
    from: human
    content: Is Redis up?${note}
  - timestamp: '2025-10-04T10:05:45.000Z'
    role: assistant
    content: Let me look.
    model: default
    usage: {input_tokens: 412, output_tokens: 38}
    tool_calls:
      - id: call-1
        type: function
        function: {name: read_file, arguments: '{"path": "redis.conf"}'}
  - timestamp: '2025-10-04T10:05:46.000Z'
    role: tool_result
    tool_call_id: call-1
    content: |
      bind 127.0.0.1
      port 6379
`;
}

const idOf = i => `planner-001-${i.toString(16).padStart(6, '0')}`;
export const pathOf = i => `sessions/${String(Math.floor(i / 100)).padStart(3, '0')}/${idOf(i)}.session.yaml`;
export const textOf = (i, note) => sessionText(idOf(i), note);

/** A new home with so many sessions, a hundred a folder, all committed. */
export function makeHome(sessions) {
  const home = mkdtempSync(join(tmpdir(), 'daemon-bench-'));
  execFileSync(process.execPath, [program, 'init', home], {stdio: 'ignore'});
  for (let i = 0; i < sessions; i++) {
    const path = join(home, pathOf(i));
    if (i % 100 === 0) mkdirSync(dirname(path), {recursive: true});
    writeFileSync(path, textOf(i));
  }
  commitAll(home);
  return home;
}

export function commitAll(home) {
  const git = (...args) => execFileSync('git', args, {cwd: home, stdio: 'ignore'});
  git('config', 'user.name', 'Bench');
  git('config', 'user.email', 'bench@example.org');
  git('add', '-A');
  git('commit', '-qm', 'all of it');
}
