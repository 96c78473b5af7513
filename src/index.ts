// Public API: the formats of a home, as pure functions from text to values and back.
export {FACTS_VERSION, type Facts} from './check/facts.ts';
export {type Home, type HomeText, parseHome} from './check/home.ts';
export {HomeIndex} from './check/home-index.ts';
export {checkHome} from './check/index.ts';
export type {Need} from './check/need.ts';
export {needsYou} from './check/needs-you.ts';
export {factsOf} from './check/read-facts.ts';
export {type TaskRow, taskRows} from './check/rows.ts';
export {type Code, codes, exit, type Severity, UserError} from './errors.ts';
export {type AllowlistFile, parseAllowlist, stringifyAllowlist} from './files/allowlist.ts';
export {addRules} from './files/allowlist-edit.ts';
export {type ApprovalFile, parseApproval, stringifyApproval} from './files/approval/approval.ts';
export {newApproval, setMeta, setReview} from './files/approval/approval-edit.ts';
export {type ApprovalItem, newApprovalItem, readApprovalItems} from './files/approval/approval-item.ts';
export {appendEntry, type ChannelFile, mentionsIn, parseChannel, stringifyChannel} from './files/channel.ts';
export {type Cursor, type CursorFile, cursorText, parseCursor, stringifyCursor} from './files/cursor-file.ts';
export type {Place, Problem} from './files/diagnostic.ts';
export {type InboxRecord, type InboxText, newRecord, parseInbox, stringifyInbox} from './files/inbox.ts';
export {type Kind, keyOf, kindOf} from './files/key.ts';
export {addPlaybookRule, type PlaybookFile, parsePlaybook, stringifyPlaybook} from './files/playbook.ts';
export {parseRejected, type Rejected, type RejectedFile, stringifyRejected} from './files/rejected.ts';
export {type SchemaName, schemaNames, schemaText} from './files/schemas.ts';
export {newSession, parseSession, type Session, sessionText} from './files/session/session.ts';
export {
  appendMessage,
  insertMessage,
  setField as setSessionField,
  setFields as setSessionFields,
  setInMessage,
  setKeysInMessage,
} from './files/session/session-edit.ts';
export {parseSettings, type SettingsFile, setSetting, stringifySettings} from './files/settings.ts';
export {type AllSlots, parseSlots, type SlotsFile, slotsText, stringifySlots} from './files/slots-file.ts';
export {type DaySpend, parseSpend, type SpendFile, spendText, stringifySpend} from './files/spend-file.ts';
export {fieldOf, stringifyTasks, type Task, type TaskFile} from './files/task/task.ts';
export {addTask, appendNote, setBox, setField as setTaskField, updateTask} from './files/task/task-edit.ts';
export {setNames as setTaskNames} from './files/task/task-names-edit.ts';
export {parseTasks} from './files/task/task-parse.ts';
export {newTemplate, parseTemplate, stringifyTemplate, type TemplateFile} from './files/template.ts';
export {parseMarkdownTemplate, setFrontMatter, setSection} from './files/template-markdown.ts';
export {parseWorkflow, setWorkflowField, stringifyWorkflow, type WorkflowFile} from './files/workflow.ts';
export {editYaml} from './files/yaml/yaml-edit.ts';
export {type Judgement, judge} from './policy/judge.ts';
export {toolNamed, tools} from './policy/tools.ts';
