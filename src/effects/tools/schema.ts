import {z} from 'zod';
import {type ToolName, tools} from '../../policy/tools.ts';

const made = new Map<ToolName, Readonly<Record<string, unknown>>>();

/** The JSON Schema of a tool's arguments, from the definition they are checked with. Made once. */
export function schemaOf(tool: ToolName): Record<string, unknown> {
  const known = made.get(tool);
  if (known) return known;
  const {$schema: _, ...schema} = z.toJSONSchema(tools[tool].arguments, {target: 'draft-7', io: 'input'});
  // Bounds that only say how large a number of the machine may be.
  const plain = JSON.parse(JSON.stringify(schema), (key, value) =>
    (key === 'maximum' || key === 'minimum') && Math.abs(value) === Number.MAX_SAFE_INTEGER ? undefined : value,
  ) as Record<string, unknown>;
  made.set(tool, plain);
  return plain;
}
