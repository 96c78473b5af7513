// Texts made to break parsers: each is repeated to the wanted length. Used by the tests (small) and the bench (10 MB).
const repeated = {
  brackets: '[',
  braces: '{',
  dashes: '- ',
  questions: '? ',
  colons: ': ',
  doubleQuotes: '"',
  singleQuotes: "'",
  newlines: '\n',
  returns: '\r',
  documents: '---\n',
  ends: '...\n',
  comments: '# a\n',
  anchors: '&a ',
  tags: '! ',
  aliases: '*a ',
  sameKey: 'a: 1\n',
  items: '- a\n',
  letters: 'a',
  letterLines: 'a\n',
  spaces: ' ',
  tabs: '\t',
  directives: '%a\n',
  pipes: 'a: |\n',
  nuls: '\0',
  mixed: 'a: [ {b: "c',
  colonChain: 'a: b: c: ',
  badIndent: '  a: 1\n b: 2\n',
  closing: ']',
  commas: ', ',
  backticks: '`',
  ats: '@ ',
  explicit: '? a\n: b\n',
  seqOfMaps: '- a: 1\n  b: 2\n',
  nested: 'a:\n  b:\n    c: 1\n',
  tasks: '- [ ] A @a #b "c" id: d\n',
  sameId: '- [ ] "a"\n  id: x\n',
  todo: '## TODO\n',
  fences: '```\n',
  openFences: '```a\n~~~\n',
  htmlComments: '<!--\n',
  closeComments: '-->\n',
  quotedTitles: "- [ ] 'a\n",
  tickedTitles: '- [ ] `a\n',
  boxes: '- [ ] ',
  inline: '"a" id: b due: c ',
  fields: '  id: x\n',
  unknownFields: '  k: x\n',
  notes: '  notes:\n    - x\n',
  continuations: '      x\n',
  bidi: '\u202e',
  surrogates: '\ud800',
  badBoxes: '- [y]\n',
  lookalikes: '* [ ] a\n',
  bullets: '- - - ',
  numbers: '1. ',
  quotes: '> ',
  stars: '*a_ ',
  links: '[a](b',
  headings: '## Review\n',
  allowed: '## Allowed Tools\n- a\n',
  decisions: '**Decision:** APPROVED\n',
  labels: '**a:** ',
  json: '{"text":"a"}\n',
  badJson: '{\n',
  deepJson: '{"a":',
  heads: '### 10:00:00 [a]\n',
  mentions: '@a ',
  variables: '${{ a }}',
  messages: 'messages:\n  - role: user\n',
  front: '---\na: b\n---\n',
  escapes: '\\',
  dollars: '$',
  emoji: '😀',
};

/** name → text of about `length` characters. */
export function hostileTexts(length) {
  const texts = {};
  for (const [name, part] of Object.entries(repeated))
    texts[name] = part.repeat(Math.ceil(length / part.length)).slice(0, length);
  const root = Math.floor(Math.sqrt(2 * length));
  texts.stairs = Array.from({length: root}, (_, i) => `${' '.repeat(i)}a:\n`).join('');
  texts.taskStairs = Array.from({length: root}, (_, i) => `${' '.repeat(i)}- [ ] a\n`).join('');
  texts.tickStairs = Array.from({length: root}, (_, i) => `- [ ] ${'`'.repeat(root - i)}\n`).join('');
  texts.manyKeys = Array.from({length: length / 12}, (_, i) => `key${i}: 1\n`).join('');
  texts.anchorsAndAliases = Array.from({length: length / 24}, (_, i) => `k${i}: &a${i} 1\nj${i}: *a${i}\n`).join('');
  texts.laughs = `a0: &a0 [x, x]\n${Array.from({length: 60}, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}, *a${i}]\n`).join('')}`;
  texts.blockScalar = `a: |\n${'  x\n'.repeat(length / 4)}`;
  texts.blankBlock = `a: |\n${'\n'.repeat(length)}`;
  texts.quoted = `a: "${'x\n  '.repeat(length / 4)}"`;
  texts.unclosed = `a: "${'x '.repeat(length / 2)}`;
  texts.oneTaskManyFields = `## TODO\n- [ ] "a"\n${Array.from({length: length / 10}, (_, i) => `  k${i}: v\n`).join('')}`;
  texts.oneNote = `- [ ] "a"\n  notes:\n    - x\n${'      y\n'.repeat(length / 8)}`;
  texts.inlineFields = `- [ ] "a" ${'id: b '.repeat(length / 6)}`;
  texts.inlineDue = `- [ ] "a" ${'due: b '.repeat(length / 7)}`;
  texts.chain = Array.from({length: length / 40}, (_, i) => `- [ ] "t"\n  id: t${i}\n  depends_on: t${i + 1}\n`).join(
    '',
  );
  texts.sessionItems = `agent_id: a\nmessages:\n${'  - role: user\n    content: x\n'.repeat(length / 32)}`;
  texts.review = `# Approval Request: a\n\n## Review\n\n${'**Decision:** APPROVED <!-- x -->\n'.repeat(length / 34)}`;
  texts.openLabels = `# Approval Request: a\n\n## Review\n\n${'**Decision:** <!-- x\n'.repeat(length / 21)}`;
  texts.toolList = `## Allowed Tools\n${'- a\n'.repeat(length / 4)}## System Prompt\nx\n## Description\ny\n`;
  texts.system = `## Description\nx\n## Allowed Tools\n- a\n## System Prompt\n${'1. '.repeat(length / 3)}`;
  return texts;
}
