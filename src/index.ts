// Public API: the formats of a home, as pure functions from text to values and back.
export {FACTS_VERSION, type Facts} from './check/facts.ts';
export {type Home, type HomeText, parseHome} from './check/home.ts';
export {HomeIndex} from './check/home-index.ts';
export {checkHome} from './check/index.ts';
export type {Need} from './check/need.ts';
export {needsYou} from './check/needs-you.ts';
export {factsOf} from './check/read-facts.ts';
export {type TaskRow, taskRows} from './check/rows.ts';
export {type AllowlistFile, parseAllowlist, stringifyAllowlist} from './formats/allowlist.ts';
export {addRules} from './formats/allowlist-edit.ts';
export {type ApprovalFile, parseApproval, stringifyApproval} from './formats/approval/approval.ts';
export {newApproval, setMeta, setReview} from './formats/approval/approval-edit.ts';
export {type ApprovalItem, newApprovalItem, readApprovalItems} from './formats/approval/approval-item.ts';
export {appendEntry, type ChannelFile, mentionsIn, parseChannel, stringifyChannel} from './formats/channel.ts';
export type {Place, Problem} from './formats/common/diagnostic.ts';
export {type Code, codes, exit, type Severity, UserError} from './formats/common/errors.ts';
export {type Kind, keyOf, kindOf} from './formats/common/key.ts';
export {type Cursor, type CursorFile, cursorText, parseCursor, stringifyCursor} from './formats/cursor-file.ts';
export {type AgentHold, type HoldsFile, holdOf, holdsText, parseHolds, stringifyHolds} from './formats/holds-file.ts';
export {type InboxRecord, type InboxText, newRecord, parseInbox, stringifyInbox} from './formats/inbox.ts';
export {addPlaybookRule, type PlaybookFile, parsePlaybook, stringifyPlaybook} from './formats/playbook.ts';
export {parseRejected, type Rejected, type RejectedFile, stringifyRejected} from './formats/rejected.ts';
export {parseRun, type Run, type RunFile, runText, stringifyRun} from './formats/run.ts';
export {type SchemaName, schemaNames, schemaText} from './formats/schemas.ts';
export {newSession, parseSession, type Session, sessionText} from './formats/session/session.ts';
export {
  appendMessage,
  insertMessage,
  setInMessage,
  setKeysInMessage,
  setSessionField,
  setSessionFields,
} from './formats/session/session-edit.ts';
export {parseSettings, type SettingsFile, setSetting, stringifySettings} from './formats/settings.ts';
export {type AllSlots, parseSlots, type SlotsFile, slotsText, stringifySlots} from './formats/slots-file.ts';
export {type DaySpend, parseSpend, type SpendFile, spendText, stringifySpend} from './formats/spend-file.ts';
export {fieldOf, stringifyTasks, type Task, type TaskFile} from './formats/task/task.ts';
export {addTask, appendNote, setBox, setTaskField, updateTask} from './formats/task/task-edit.ts';
export {setTaskNames} from './formats/task/task-names-edit.ts';
export {parseTasks} from './formats/task/task-parse.ts';
export {newTemplate, parseTemplate, stringifyTemplate, type TemplateFile} from './formats/template.ts';
export {parseMarkdownTemplate, setFrontMatter, setSection} from './formats/template-markdown.ts';
export {parseWorkflow, setWorkflowField, stringifyWorkflow, type WorkflowFile} from './formats/workflow.ts';
export {editYaml} from './formats/yaml/yaml-edit.ts';
export {type Judgement, judge} from './policy/judge.ts';
export {toolNamed, tools} from './policy/tools.ts';
