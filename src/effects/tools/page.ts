import {type ToolDefinition, type ToolName, tools} from '../../policy/tools.ts';
import {resultCodes} from '../tool/tool.ts';
import {schemaOf} from './schema.ts';

const effects = {
  read: 'changes nothing, may be repeated',
  write: 'changes the home or the machine, is run once at most',
  outside: 'leaves the home, is run once at most',
  deliver: 'changes files of the home, once, however often it is tried',
};

/** Generate docs/tools.md from the tool table. */
export function toolsPage(): string {
  const names = Object.keys(tools) as ToolName[];
  return `# Tools

<!-- Written by \`npm run schemas\` from src/policy/tool/; edits here are lost. -->

What agents can call. An agent has the tools that its template names under \`capabilities\`. *By default* is the verdict
where [allowlist.yaml](formats/allowlist.md) has no rule for the tool under \`tools:\`; commands are judged one by one. In
tables a \`?\` marks what may be left out.

A call gives \`{"success": true, …}\` with the fields listed, or \`{"success": false, "error": …, "code": …}\`:

${table(
  ['code', 'meaning'],
  Object.entries(resultCodes).map(([code, meaning]) => [`\`${code}\``, meaning]),
)}

Paths are relative to the agent's workspace; \`memory/\` and \`tasks/\` are the home's and are only read. Links are not
followed. Ignore files (\`.rgignore\`, \`.ignore\`, \`.gitignore\`, in this order) count for \`glob\` and \`grep\` as they do
for ripgrep, and \`node_modules\` is never entered, unless a path names what is to be searched. Unlike ripgrep, \`glob\` also
finds hidden files; a glob does not bring back what is ignored; braces in ignore files are plain characters, as in git;
\`\\w\`, \`\\d\` and \`\\b\` know ASCII only.

${names.map(section).join('\n')}`;
}

function section(name: ToolName): string {
  const {description, effect, default: verdict, alwaysAsks, result}: ToolDefinition = tools[name];
  const {properties = {}, required = []} = schemaOf(name) as {
    properties?: Record<string, Property>;
    required?: string[];
  };
  const rows = Object.entries(properties).map(([key, property]) => [
    `\`${key}${required.includes(key) ? '' : '?'}\``,
    typeOf(property),
    property.description ?? '',
  ]);
  const fields = Object.entries(result ?? {}).map(([key, meaning]) => [`\`${key}\``, meaning]);
  const parts = [
    `### ${name}`,
    description,
    `Effect: \`${effect}\` (${effects[effect]}). ${alwaysAsks ? 'Asks each time, whatever a rule allows.' : `By default: \`${verdict}\`.`}`,
    rows.length > 0 ? table(['argument', 'type', ''], rows) : 'No arguments.',
    ...(fields.length > 0 ? [table(['result', ''], fields)] : []),
  ];
  return `${parts.join('\n\n')}\n`;
}

interface Property {
  type?: string;
  description?: string;
  enum?: readonly string[];
  const?: string;
  items?: Property;
}

function typeOf({type, enum: words, const: word, items}: Property): string {
  if (word !== undefined) return `\`${word}\``;
  if (words) return words.map(each => `\`${each}\``).join(', ');
  return type === 'array' ? `list of ${items?.type ?? 'value'}s` : (type ?? 'value');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
