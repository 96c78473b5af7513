import {z} from 'zod';
import {allowlistSchema} from './allowlist.ts';
import {cursorSchema} from './cursor-file.ts';
import {holdsSchema} from './holds-file.ts';
import {playbookSchema} from './playbook.ts';
import {runSchema} from './run.ts';
import {sessionSchema} from './session/session-schema.ts';
import {settingsSchema} from './settings.ts';
import {slotsSchema} from './slots-file.ts';
import {spendSchema} from './spend-file.ts';
import {templateSchema} from './template.ts';
import {workflowSchema} from './workflow.ts';

const definitions = {
  agent: templateSchema,
  session: sessionSchema,
  settings: settingsSchema,
  allowlist: allowlistSchema,
  playbook: playbookSchema,
  workflow: workflowSchema,
  run: runSchema,
  spend: spendSchema,
  cursor: cursorSchema,
  slots: slotsSchema,
  holds: holdsSchema,
} as const;

export type SchemaName = keyof typeof definitions;
export const schemaNames = Object.keys(definitions) as SchemaName[];

/** Text of schemas/<name>.json, generated from the parser's definitions. */
export function schemaText(name: SchemaName): string {
  const schema = z.toJSONSchema(definitions[name], {target: 'draft-7', io: 'input'});
  return `${JSON.stringify(schema, null, 2)}\n`;
}
