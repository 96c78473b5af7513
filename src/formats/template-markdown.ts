import type {ListItem} from 'mdast';
import {hasErrors, nearest, type Place, type Problem, problem} from './common/diagnostic.ts';
import {lineEnd, lineStarts, placeAt, splice} from './common/lines.ts';
import {type Outline, plainText, readBlocks, readOutline, type Section} from './common/markdown.ts';
import {notYet} from './common/no-effect.ts';
import {type Capability, frontMatterSchema, type TemplateFile, type TemplateValue} from './template.ts';
import {type PlaceFinder, validateValue} from './yaml/validate.ts';
import {editYaml} from './yaml/yaml-edit.ts';
import {readQuickly} from './yaml/yaml-quick.ts';
import {placeOfValue} from './yaml/yaml-source.ts';

/** In characters. A larger file is a mistake. */
const MAX_LENGTH = 1_000_000;

/** Parse templates/<stem>.agent.md in either dialect. Must not throw. */
export function parseMarkdownTemplate(text: string, stem: string): TemplateFile {
  if (text.length > MAX_LENGTH) {
    const tooLarge = problem(
      'FILE_TOO_LARGE',
      {line: 1, column: 1},
      `expected at most ${MAX_LENGTH} characters, found ${text.length}`,
      'shorten the prompt',
    );
    return {text, form: 'sections', value: undefined, capabilities: [], problems: [tooLarge]};
  }
  const outline = readOutline(text);
  return outline.front ? parseFrontMatter(text, stem, outline) : parseSections(text, stem, outline);
}

const wanted = {
  description: {title: 'Description', example: 'a line on what the agent is for'},
  tools: {title: 'Allowed Tools', example: 'a list of at least one tool, "- read"'},
  prompt: {title: 'System Prompt', example: 'the prompt, up to the end of the file'},
} as const;

function parseSections(text: string, stem: string, outline: Outline): TemplateFile {
  const problems: Problem[] = [];
  const prompt = sectionNamed(outline, wanted.prompt.title);
  // The prompt runs to the end of the file, including headings.
  const before = prompt ? outline.sections.filter(s => s.start < prompt.start) : outline.sections;
  const find = (title: string): Section | undefined => {
    const [first, second] = before.filter(s => s.depth === 2 && s.title.toLowerCase() === title.toLowerCase());
    if (second)
      problems.push(
        problem(
          'DUPLICATE_SECTION',
          {line: second.line, column: 1},
          `expected one section "## ${title}", found a second`,
          'remove one of the two',
        ),
      );
    return first;
  };
  const description = find(wanted.description.title);
  const tools = find(wanted.tools.title);
  for (const [name, section] of Object.entries({description, tools, prompt})) {
    const {title, example} = wanted[name as keyof typeof wanted];
    const late = !section && outline.sections.some(s => s.depth === 2 && s.title.toLowerCase() === title.toLowerCase());
    if (!section || (name !== 'tools' && bodyOf(text, section, name === 'prompt') === '')) {
      const found = section
        ? 'an empty one'
        : late
          ? 'it below "## System Prompt", which runs to the end of the file'
          : 'none';
      const place = section ? {line: section.line, column: 1} : {line: 1, column: 1};
      problems.push(
        problem(
          'MISSING_SECTION',
          place,
          `expected a section "## ${title}", found ${found}`,
          late ? 'move it above "## System Prompt"' : `add "## ${title}" with ${example}`,
        ),
      );
    }
  }
  for (const section of before) if (section.depth === 2) problems.push(...sectionProblem(section));
  const list = tools ? readTools(text, tools) : [];
  if (tools && list.length === 0) {
    problems.push(
      problem(
        'NO_TOOLS',
        {line: tools.line, column: 1},
        'expected a list of at least one tool, found none',
        'add a line "- read"',
      ),
    );
  }
  const value: TemplateValue = {
    id: stem,
    type: textOf(text, find('Type')) ?? stem,
    description: description ? bodyOf(text, description, false) : '',
    model: textOf(text, find('Model')) ?? 'default',
    system_prompt: prompt ? bodyOf(text, prompt, true) : '',
    capabilities: list.map(tool => tool.name),
  };
  return {text, form: 'sections', value: hasErrors(problems) ? undefined : value, capabilities: list, problems};
}

const sectionTitles = [...Object.values(wanted).map(({title}) => title), 'Model', 'Type'];

/** A section above the prompt that has no meaning. */
function sectionProblem({title, line}: Section): Problem[] {
  const isKnown = sectionTitles.some(known => known.toLowerCase() === title.toLowerCase());
  if (isKnown) return [];
  const near = nearest(title, sectionTitles);
  return [
    problem(
      near === undefined ? 'NO_EFFECT' : 'LIKELY_TYPO',
      {line, column: 1},
      `unknown section "## ${title}" has no effect`,
      near === undefined
        ? 'move it below "## System Prompt" to make it part of the prompt'
        : `did you mean "## ${near}"?`,
    ),
  ];
}

function parseFrontMatter(text: string, stem: string, outline: Outline): TemplateFile {
  const front = outline.front ?? {start: 0, end: 0, bodyStart: 0};
  const source = readQuickly(text.slice(front.start, front.end));
  const first = placeAt(lineStarts(text.slice(0, front.start)), front.start).line - 1;
  const shift = (place: Place): Place => ({line: place.line + first, column: place.column});
  const at: PlaceFinder = (path, what) => shift(placeOfValue(source, path, undefined, what));
  const checked =
    source.problems.length > 0
      ? {value: undefined, problems: source.problems.map(p => ({...p, line: p.line + first}))}
      : validateValue(
          frontMatterSchema,
          source.value,
          at,
          'write name, description and tools between the --- lines',
          notYet.template,
        );
  const problems = checked.problems;
  const body = text.slice(front.bodyStart).trim().replaceAll('\r\n', '\n');
  if (body === '') {
    problems.push(
      problem(
        'MISSING_SECTION',
        placeAt(lineStarts(text), front.bodyStart),
        'expected the system prompt below the front matter, found nothing',
        'write the prompt below the second ---',
      ),
    );
  }
  const {name, tools, ...rest} = checked.value ?? {name: stem, tools: []};
  const names =
    typeof tools === 'string'
      ? tools
          .split(',')
          .map(tool => tool.trim())
          .filter(Boolean)
      : tools;
  const capabilities = names.map((tool, i) => ({
    name: tool,
    ...at(typeof tools === 'string' ? ['tools'] : ['tools', i]),
  }));
  if (checked.value && names.length === 0)
    problems.push(problem('NO_TOOLS', at(['tools']), 'expected at least one tool, found none', 'write "tools: Read"'));
  const failed = !checked.value || problems.some(p => p.severity === 'error');
  const value = {
    model: 'default',
    ...rest,
    id: stem,
    type: (rest as {type?: string}).type ?? stem,
    system_prompt: body,
    capabilities: names,
  };
  return {text, form: 'front-matter', value: failed ? undefined : (value as TemplateValue), capabilities, problems};
}

function sectionNamed(outline: Outline, title: string): Section | undefined {
  return outline.sections.find(s => s.depth === 2 && s.title.toLowerCase() === title.toLowerCase());
}

function bodyOf(text: string, section: Section, toEnd: boolean): string {
  return text
    .slice(section.bodyStart, toEnd ? text.length : section.end)
    .trim()
    .replaceAll('\r\n', '\n');
}

function textOf(text: string, section: Section | undefined): string | undefined {
  return (section && bodyOf(text, section, false)) || undefined;
}

/** Tool names in the list of a section, with their places. */
function readTools(text: string, section: Section): Capability[] {
  const body = text.slice(section.bodyStart, section.end);
  const found: Capability[] = [];
  for (const block of readBlocks(body) ?? []) {
    if (block.type !== 'list') continue;
    for (const item of block.children) {
      const start = item.children[0]?.position?.start;
      for (const part of itemText(item).split(',')) {
        const name = /^[A-Za-z_][\w.:-]*/.exec(part.trim())?.[0].replace(/:$/, '');
        if (name && start) found.push({name, line: section.line + start.line, column: start.column});
      }
    }
  }
  return found;
}

function itemText(item: ListItem): string {
  const [first] = item.children;
  return first ? plainText(first).trim() : '';
}

/** Replace the body of `## title`, or add the section above the system prompt. */
export function setSection(text: string, title: string, body: string): string {
  const eol = lineEnd(text);
  const outline = readOutline(text);
  const lines = body.trim().split('\n').join(eol);
  const section = sectionNamed(outline, title);
  if (section) {
    const toEnd = title.toLowerCase() === wanted.prompt.title.toLowerCase();
    const old = text.slice(section.bodyStart, toEnd ? text.length : section.end);
    const lead = old.length - old.trimStart().length;
    const start = old.trim() === '' ? section.bodyStart : section.bodyStart + lead;
    const end = old.trim() === '' ? section.bodyStart : section.bodyStart + old.trimEnd().length;
    const atHeading = start > 0 && text[start - 1] !== '\n' ? eol : '';
    return splice(text, [{start, end, insert: atHeading + lines + (old.trim() === '' ? eol : '')}]);
  }
  const prompt = sectionNamed(outline, wanted.prompt.title);
  const at = prompt?.start ?? text.length;
  const gap = at > 0 && text[at - 1] !== '\n' ? eol : '';
  return splice(text, [{start: at, end: at, insert: `${gap}## ${title}${eol}${lines}${eol}${prompt ? eol : ''}`}]);
}

export function setFrontMatter(text: string, key: string, value: unknown): string {
  const {front} = readOutline(text);
  if (!front) return text;
  const edited = editYaml(text.slice(front.start, front.end), {set: [key], to: value});
  return text.slice(0, front.start) + edited + text.slice(front.end);
}
