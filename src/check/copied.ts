import {createHash} from 'node:crypto';
import {type Problem, problem} from '../formats/common/diagnostic.ts';
import type {SessionHeader} from '../formats/session/session-schema.ts';
import type {TemplateValue} from '../formats/template.ts';

/** What a session has of its template: model, digest of the prompt (empty: not compared), and the lines of both keys. */
export type CopiedFact = readonly [model: string, prompt: string, modelLine: number, promptLine: number];

/** What sessions copy from a template, in one text: digest of the prompt, then the model. */
export function copySource({model, system_prompt}: TemplateValue): string {
  return `${digestOf(system_prompt)} ${model ?? 'default'}`;
}

/** `head`: text of the session up to its messages. */
export function copiedFact(head: string, {model, system_prompt, keeps = [], ephemeral}: SessionHeader): CopiedFact {
  const hasModel = model !== undefined && !keeps.includes('model') && ephemeral !== true;
  const hasPrompt = system_prompt !== undefined && !keeps.includes('system_prompt');
  return [
    hasModel ? model : '',
    hasPrompt ? digestOf(system_prompt) : '',
    hasModel ? lineOf(head, 'model') : 0,
    hasPrompt ? lineOf(head, 'system_prompt') : 0,
  ];
}

/** A session keeps what it once copied, and says so when its template has something else. */
export function copiedProblems(
  [model, prompt, modelLine, promptLine]: CopiedFact,
  template: string,
  source: string,
): Problem[] {
  const [wantedPrompt = '', ...rest] = source.split(' ');
  const wanted = rest.join(' ');
  const found: Problem[] = [];
  const report = (key: string, line: number, what: string) =>
    found.push(
      problem(
        'TEMPLATE_DIFFERS',
        {line, column: 1},
        `${what}; to use the template's, remove ${key}: here`,
        `to keep this one without the warning, add "keeps: [${key}]"`,
      ),
    );
  if (model !== '' && model !== wanted)
    report('model', modelLine, `the session keeps the model "${model}", but ${template} has "${wanted}"`);
  if (prompt !== '' && prompt !== wantedPrompt)
    report('system_prompt', promptLine, `the session keeps a system prompt that differs from the one in ${template}`);
  return found;
}

function lineOf(head: string, key: string): number {
  const at = head.startsWith(`${key}:`) ? 0 : head.indexOf(`\n${key}:`) + 1;
  let line = 1;
  for (let i = head.indexOf('\n'); i !== -1 && i < at; i = head.indexOf('\n', i + 1)) line++;
  return line;
}

/** Thousands of sessions have the same few prompts. */
const digests = new Map<string, string>();
const MOST_DIGESTS = 100;

/** Trailing blank lines depend on how the text is written. */
function digestOf(prompt: string): string {
  const known = digests.get(prompt);
  if (known !== undefined) return known;
  const digest = createHash('sha256').update(prompt.trimEnd()).digest('hex').slice(0, 12);
  if (digests.size >= MOST_DIGESTS) digests.clear();
  // A copy: the prompt may be a part of the text of a whole file.
  digests.set(JSON.parse(JSON.stringify(prompt)) as string, digest);
  return digest;
}
