import {type ToolName, tools} from './tool-table.ts';

export {type ToolDefinition, type ToolEffect, type ToolName, tools} from './tool-table.ts';

/** Names that Niffler's and Claude Code's agents use for the same tools. */
export const aliases: Readonly<Record<string, ToolName>> = {
  read: 'read_file',
  list: 'list_directory',
  create: 'create_file',
  edit: 'edit_file',
  write: 'write_file',
  bash: 'execute_command',
  Read: 'read_file',
  NotebookRead: 'read_file',
  LS: 'list_directory',
  Glob: 'glob',
  Grep: 'grep',
  Write: 'write_file',
  Edit: 'edit_file',
  MultiEdit: 'edit_file',
  NotebookEdit: 'edit_file',
  Bash: 'execute_command',
  WebFetch: 'fetch',
  Task: 'task',
  Agent: 'task',
  TodoRead: 'query_tasks',
  TodoWrite: 'create_task',
  AskUserQuestion: 'ask_human',
  SendMessage: 'send_message',
};

/** The tool of this exact name or alias. */
export function toolNamed(name: string): ToolName | undefined {
  if (Object.hasOwn(tools, name)) return name as ToolName;
  return Object.hasOwn(aliases, name) ? aliases[name] : undefined;
}

/** `mcp__server__tool`: a tool of an MCP server, known only once that server is asked. */
export function isExternalTool(name: string): boolean {
  return /^mcp__[A-Za-z0-9][A-Za-z0-9._-]*?__[A-Za-z0-9._-]+$/.test(name);
}
