import {z} from 'zod';
import {type ToolName, tools} from '../../policy/tools.ts';

const made = new Map<ToolName, Readonly<Record<string, unknown>>>();

/** JSON Schema of a tool's arguments; computed once. */
export function schemaOf(tool: ToolName): Record<string, unknown> {
  const known = made.get(tool);
  if (known) return known;
  const {$schema: _, ...schema} = z.toJSONSchema(tools[tool].arguments, {target: 'draft-7', io: 'input'});
  // Drop bounds that are only the range of safe integers.
  const plain = JSON.parse(JSON.stringify(schema), (key, value) =>
    (key === 'maximum' || key === 'minimum') && Math.abs(value) === Number.MAX_SAFE_INTEGER ? undefined : value,
  ) as Record<string, unknown>;
  made.set(tool, plain);
  return plain;
}
