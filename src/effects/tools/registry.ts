import {type ToolName, toolNamed, tools} from '../../policy/tools.ts';
import type {ToolOffer} from '../model/answer.ts';
import type {JudgingTool, Tool} from '../tool/tool.ts';
import {agentListTool} from './agent-list.ts';
import {agentSpawnTool} from './agent-spawn.ts';
import {askHumanTool} from './ask-human.ts';
import {createDirectoryTool} from './create-directory.ts';
import {editFileTool} from './edit-file.ts';
import {emailSendTool} from './email-send.ts';
import {executeCommandTool} from './execute-command.ts';
import {fetchTool} from './fetch.ts';
import {globTool} from './glob.ts';
import {grepTool} from './grep.ts';
import {listAgentsTool} from './list-agents.ts';
import {listDirectoryTool} from './list-directory.ts';
import {listSessionsTool} from './list-sessions.ts';
import {queryTasksTool} from './query-tasks.ts';
import {readFileTool} from './read-file.ts';
import {rememberTool} from './remember.ts';
import {schemaOf} from './schema.ts';
import {searchFilesTool} from './search-files.ts';
import {slackReadTool} from './slack-read.ts';
import {slackSendTool} from './slack-send.ts';
import {taskTool} from './task.ts';
import {createFileTool, writeFileTool} from './write-file.ts';

/** How each tool of the tool table runs. */
export const implemented = {
  read_file: readFileTool,
  list_directory: listDirectoryTool,
  create_directory: createDirectoryTool,
  write_file: writeFileTool,
  create_file: createFileTool,
  edit_file: editFileTool,
  glob: globTool,
  grep: grepTool,
  search_files: searchFilesTool,
  execute_command: executeCommandTool,
  ask_human: askHumanTool,
  remember: rememberTool,
  fetch: fetchTool,
  create_task: {execute: (args, {createTask}) => createTask(args)} satisfies Tool<'create_task'>,
  update_task: {execute: (args, {updateTask}) => updateTask(args)} satisfies Tool<'update_task'>,
  send_message: {execute: (args, {send}) => send(args)} satisfies Tool<'send_message'>,
  query_tasks: queryTasksTool,
  list_agents: listAgentsTool,
  list_sessions: listSessionsTool,
  recall: {execute: (args, {recall}) => recall(args)} satisfies Tool<'recall'>,
  slack_send: slackSendTool,
  slack_read: slackReadTool,
  email_send: emailSendTool,
  channel_send: {execute: (args, {channelSend}) => channelSend(args)} satisfies Tool<'channel_send'>,
  channel_read: {execute: (args, {channelRead}) => channelRead(args)} satisfies Tool<'channel_read'>,
  channel_peek: {execute: (args, {channelPeek}) => channelPeek(args)} satisfies Tool<'channel_peek'>,
  document_read: {execute: (_args, {documentRead}) => documentRead()} satisfies Tool<'document_read'>,
  document_write: {execute: (args, {documentWrite}) => documentWrite(args)} satisfies Tool<'document_write'>,
  document_append: {execute: (args, {documentAppend}) => documentAppend(args)} satisfies Tool<'document_append'>,
  task: taskTool,
  agent_spawn: agentSpawnTool,
  agent_list: agentListTool,
} as const satisfies {[N in ToolName]: Tool<N> | JudgingTool<N>};

/** Tools whose arguments are used literally: a redaction placeholder in them is an error. */
export const exact: ReadonlySet<ToolName> = new Set<ToolName>([
  'write_file',
  'create_file',
  'edit_file',
  'execute_command',
  'fetch',
  'slack_send',
  'email_send',
  'document_write',
  'document_append',
]);

const offered = new Map<ToolName, ToolOffer>();

function offer(name: ToolName): ToolOffer {
  let made = offered.get(name);
  if (!made) {
    made = {name, description: tools[name].description, parameters: schemaOf(name)};
    offered.set(name, made);
  }
  return made;
}

/** Tools of these capabilities that can run here. `without`: tools that are not set up. */
export function offers(capabilities: readonly string[], without?: ReadonlySet<ToolName>): ToolOffer[] {
  return [...toolsOf(capabilities)].filter(name => !without?.has(name)).map(offer);
}

export function toolsOf(capabilities: readonly string[]): Set<ToolName> {
  return new Set(capabilities.map(toolNamed).filter(name => name !== undefined));
}
