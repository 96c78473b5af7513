import {mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {agentdir, mustGit} from './run-command.mjs';

export const agentName = i => `a${String(i).padStart(3, '0')}`;

const tools =
  'read_file, grep, glob, execute_command, write_file, create_file, ask_human, remember, send_message, create_task, update_task, list_agents';

function put(home, files) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), {recursive: true});
    writeFileSync(join(home, path), text);
  }
}

/** A home with so many agents, and with comments, unknown keys and prose in its files that must stay. */
export async function makeHome(world) {
  const {home, options, ledger} = world;
  const made = await agentdir(dirname(home), 'init', home);
  if (made.code !== 0) throw new Error(`agentdir init: ${made.stderr}`);
  const planted = (path, line, what) => {
    ledger.lines.push({path, line, what});
    return line;
  };
  const files = {};
  for (let i = 0; i < options.agents; i++) {
    const name = agentName(i);
    const path = `templates/${name}.agent.yaml`;
    const comment = planted(path, `# ${ledger.mark()}: mine,   with   blanks`, 'comment');
    const key = planted(path, `x_owner: "${ledger.mark()}" # of nobody's business`, 'unknown key');
    files[path] =
      `${comment}\nid: ${name}\ntype: worker\nsystem_prompt: You are ${name}.\ncapabilities: [${tools}]\nlimits: {max_turns: 500}\n${key}\n`;
  }
  for (let i = 0; i < 8; i++) {
    const path = `tasks/work-${i}.task.md`;
    const prose = planted(path, `Prose of ${ledger.mark()},\twith a tab.  `, 'prose');
    const quoted = planted(path, `> ${ledger.mark()} said so`, 'quote');
    files[path] = `# Work ${i}\n\n${prose}\n\n${quoted}\n\n## TODO\n\n`;
  }
  for (let i = 0; i < 4; i++) files[`memory/notes-${i}.md`] = `# Notes ${i}\n`;
  const policy = planted('allowlist.yaml', `# ${ledger.mark()}: ask me first`, 'comment');
  files['allowlist.yaml'] =
    `${policy}\nversion: 1\ncommands:\n  allow: ["mktemp *", "echo *"]\n  deny: ["rm -rf *"]\ntools: {create_file: allow, write_file: allow, remember: allow}\n`;
  const settings = planted('agentdir.yaml', `# ${ledger.mark()}: do not touch`, 'comment');
  files['agentdir.yaml'] =
    `${settings}\nformat: 1\nname: soak\ndefault_agent: ${agentName(0)}\nlimits: {per_day: {cost_usd: 100000, tokens: 1000000000}, agent_messages: 200}\n`;
  files['own/diary.txt'] = 'mine\n';
  put(home, files);
  await mustGit(home, 'add', '-A');
  await mustGit(home, 'commit', '--quiet', '--message=before');
}
