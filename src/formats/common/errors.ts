/** Diagnostic codes; their meaning never changes. `error` keeps a file from being used, `warning` only informs. */
export const codes = {
  // any file
  NOT_UTF8: 'error',
  FILE_TOO_LARGE: 'error',
  UNREADABLE: 'error',
  UNMERGED: 'error',
  SECRET_IN_FILE: 'warning',
  NO_REPOSITORY: 'error',
  // YAML
  YAML_SYNTAX: 'error',
  YAML_TOO_DEEP: 'error',
  YAML_DUPLICATE_KEY: 'error',
  YAML_MANY_DOCUMENTS: 'error',
  NOT_A_MAP: 'error',
  MISSING_KEY: 'error',
  WRONG_TYPE: 'error',
  BAD_VALUE: 'error',
  BAD_STATUS: 'error',
  BAD_ROLE: 'error',
  BAD_ID: 'error',
  BAD_TIME: 'error',
  BAD_DURATION: 'error',
  BAD_CRON: 'error',
  BAD_PATTERN: 'error',
  LIKELY_TYPO: 'warning',
  NO_EFFECT: 'warning',
  NAME_MISMATCH: 'error',
  // templates
  MISSING_SECTION: 'error',
  DUPLICATE_SECTION: 'error',
  NO_TOOLS: 'error',
  UNKNOWN_TOOL: 'warning',
  // sessions
  STRAY_RESULT: 'error',
  DUPLICATE_RESULT: 'warning',
  DUPLICATE_CALL: 'error',
  BAD_ARGUMENTS: 'warning',
  TEMPLATE_DIFFERS: 'warning',
  UNKNOWN_VERSION: 'error',
  MISSING_CHECKPOINT: 'error',
  // tasks
  BAD_BOX: 'error',
  UNCLOSED_FENCE: 'error',
  UNCLOSED_COMMENT: 'error',
  DUPLICATE_FIELD: 'error',
  BAD_STRING: 'warning',
  BAD_DUE: 'warning',
  MISALIGNED_FIELD: 'warning',
  TASK_LOOKALIKE: 'warning',
  LATE_MENTION: 'warning',
  PARENT_MISMATCH: 'warning',
  // approvals
  UNCLEAR_DECISION: 'error',
  DECISIONS_DIFFER: 'error',
  MISSING_REVIEW: 'error',
  ORPHANED_APPROVAL: 'warning',
  // policy
  BAD_RULE: 'error',
  MIXED_FORMS: 'error',
  ALLOWLIST_TEST_FAILED: 'error',
  // inbox, channels, workflows
  BAD_LINE: 'error',
  STRAY_TEXT: 'warning',
  UNKNOWN_VARIABLE: 'error',
  NOBODY_MENTIONED: 'warning',
  UNKNOWN_MENTION: 'warning',
  NO_SUCH_TOOL: 'error',
  MISSING_PROMPT: 'error',
  UNKNOWN_BACKEND: 'warning',
  // across files
  DUPLICATE_ID: 'error',
  UNKNOWN_AGENT: 'warning',
  UNKNOWN_WORKFLOW: 'warning',
  UNKNOWN_DEPENDENCY: 'error',
  UNKNOWN_PARENT: 'error',
  SKIPPED_DEPENDENCY: 'warning',
  DEPENDENCY_CYCLE: 'error',
  MISSING_TEMPLATE: 'error',
  MISSING_SESSION: 'warning',
  UNPRICED_MODEL: 'warning',
} as const satisfies Record<string, 'error' | 'warning'>;

export type Code = keyof typeof codes;
export type Severity = 'error' | 'warning';

export const exit = {done: 0, failed: 1, usage: 2, waiting: 3, badFile: 4, daemon: 5} as const;

/** An error to report in one sentence, without a stack trace: wrong usage, no home, a refused edit. */
export class UserError extends Error {
  override readonly name = 'UserError';
  readonly exitCode: number;
  readonly hint: string | undefined;

  constructor(message: string, exitCode: number = exit.failed, hint?: string) {
    super(message);
    this.exitCode = exitCode;
    this.hint = hint;
  }
}
