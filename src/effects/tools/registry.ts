import {type ToolName, toolNamed, tools} from '../../policy/tools.ts';
import type {ToolOffer} from '../model/answer.ts';
import type {JudgingTool, Tool} from '../tool/tool.ts';
import {askHuman} from './ask-human.ts';
import {createDirectory} from './create-directory.ts';
import {createFile} from './create-file.ts';
import {createTask} from './create-task.ts';
import {editFile} from './edit-file.ts';
import {emailSend} from './email-send.ts';
import {executeCommand} from './execute-command.ts';
import {fetch} from './fetch.ts';
import {glob} from './glob.ts';
import {grep} from './grep.ts';
import {listAgents} from './list-agents.ts';
import {listDirectory} from './list-directory.ts';
import {listSessions} from './list-sessions.ts';
import {queryTasks} from './query-tasks.ts';
import {readFile} from './read-file.ts';
import {remember} from './remember.ts';
import {schemaOf} from './schema.ts';
import {searchFiles} from './search-files.ts';
import {sendMessage} from './send-message.ts';
import {slackRead} from './slack-read.ts';
import {slackSend} from './slack-send.ts';
import {updateTask} from './update-task.ts';
import {writeFile} from './write-file.ts';

/** What can run. The rest of the table is not offered. */
export const implemented = {
  read_file: readFile,
  list_directory: listDirectory,
  create_directory: createDirectory,
  write_file: writeFile,
  create_file: createFile,
  edit_file: editFile,
  glob,
  grep,
  search_files: searchFiles,
  execute_command: executeCommand,
  ask_human: askHuman,
  remember,
  fetch,
  create_task: createTask,
  update_task: updateTask,
  send_message: sendMessage,
  query_tasks: queryTasks,
  list_agents: listAgents,
  list_sessions: listSessions,
  slack_send: slackSend,
  slack_read: slackRead,
  email_send: emailSend,
} as const satisfies {[N in ToolName]?: Tool<N> | JudgingTool<N>};

/** What these write, run or send is meant to the letter. */
export const exact: ReadonlySet<ToolName> = new Set<ToolName>([
  'write_file',
  'create_file',
  'edit_file',
  'execute_command',
  'fetch',
  'slack_send',
  'email_send',
]);

export const implementedTools = Object.keys(implemented) as (keyof typeof implemented)[];

const offered = new Map<ToolName, ToolOffer>();

function offer(name: ToolName): ToolOffer {
  let made = offered.get(name);
  if (!made) {
    made = {name, description: tools[name].description, parameters: schemaOf(name)};
    offered.set(name, made);
  }
  return made;
}

/** The tools of these capabilities that can run here, by their own names, each once. `without`: those not set up. */
export function offers(capabilities: readonly string[], without?: ReadonlySet<ToolName>): ToolOffer[] {
  return [...toolsOf(capabilities)].filter(name => isImplemented(name) && !without?.has(name)).map(offer);
}

export function isImplemented(name: ToolName): name is keyof typeof implemented {
  return Object.hasOwn(implemented, name);
}

export function toolsOf(capabilities: readonly string[]): Set<ToolName> {
  return new Set(capabilities.map(toolNamed).filter(name => name !== undefined));
}
