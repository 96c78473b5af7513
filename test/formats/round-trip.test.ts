import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {hostileTexts} from '../../bench/hostile.mjs';
import {
  parseAllowlist,
  parseApproval,
  parseChannel,
  parseCursor,
  parseHolds,
  parseInbox,
  parseMarkdownTemplate,
  parsePlaybook,
  parseRejected,
  parseRun,
  parseSession,
  parseSettings,
  parseSlots,
  parseSpend,
  parseTasks,
  parseTemplate,
  parseWorkflow,
  sessionText,
  stringifyAllowlist,
  stringifyApproval,
  stringifyChannel,
  stringifyCursor,
  stringifyHolds,
  stringifyInbox,
  stringifyPlaybook,
  stringifyRejected,
  stringifyRun,
  stringifySettings,
  stringifySlots,
  stringifySpend,
  stringifyTasks,
  stringifyTemplate,
  stringifyWorkflow,
} from '../../src/index.ts';
import {anyText, linesOf, markdownLines, otherLines, runs, taskLines, yamlLines} from '../arbitrary.ts';

/** Each format: text → parsed → text. */
const formats: Record<
  string,
  (text: string) => {again: string; problems: readonly {line: number; column: number; message: string; hint: string}[]}
> = {
  template: text => {
    const file = parseTemplate(text, 'planner-001');
    return {again: stringifyTemplate(file), problems: file.problems};
  },
  'markdown template': text => {
    const file = parseMarkdownTemplate(text, 'helper');
    return {again: stringifyTemplate(file), problems: file.problems};
  },
  session: text => {
    const session = parseSession(text);
    return {again: sessionText(session), problems: session.problems};
  },
  tasks: text => {
    const file = parseTasks(text);
    return {again: stringifyTasks(file), problems: file.problems};
  },
  approval: text => {
    const file = parseApproval(text);
    return {again: stringifyApproval(file), problems: file.problems};
  },
  allowlist: text => {
    const file = parseAllowlist(text);
    return {again: stringifyAllowlist(file), problems: file.problems};
  },
  inbox: text => {
    const file = parseInbox(text);
    return {again: stringifyInbox(file), problems: file.problems};
  },
  rejected: text => {
    const file = parseRejected(text);
    return {again: stringifyRejected(file), problems: file.problems};
  },
  cursor: text => {
    const file = parseCursor(text);
    return {again: stringifyCursor(file), problems: file.problems};
  },
  slots: text => {
    const file = parseSlots(text);
    return {again: stringifySlots(file), problems: file.problems};
  },
  holds: text => {
    const file = parseHolds(text);
    return {again: stringifyHolds(file), problems: file.problems};
  },
  spend: text => {
    const file = parseSpend(text);
    return {again: stringifySpend(file), problems: file.problems};
  },
  playbook: text => {
    const file = parsePlaybook(text);
    return {again: stringifyPlaybook(file), problems: file.problems};
  },
  workflow: text => {
    const file = parseWorkflow(text);
    return {again: stringifyWorkflow(file), problems: file.problems};
  },
  run: text => {
    const file = parseRun(text);
    return {again: stringifyRun(file), problems: file.problems};
  },
  channel: text => {
    const file = parseChannel(text);
    return {again: stringifyChannel(file), problems: file.problems};
  },
  settings: text => {
    const file = parseSettings(text);
    return {again: stringifySettings(file), problems: file.problems};
  },
};

const texts = fc.oneof(
  anyText,
  linesOf(yamlLines),
  linesOf(taskLines),
  linesOf(markdownLines),
  linesOf(otherLines),
  linesOf([...yamlLines, ...taskLines, ...markdownLines, ...otherLines], 24),
);

describe.each(Object.entries(formats))('%s', (_name, read) => {
  it('never throws and gives back any text byte for byte, with problems that point into it', () => {
    fc.assert(
      fc.property(texts, text => {
        const {again, problems} = read(text);
        expect(again).toBe(text);
        const lines = text.split('\n');
        for (const problem of problems) {
          expect(problem.line).toBeGreaterThanOrEqual(1);
          expect(problem.line).toBeLessThanOrEqual(lines.length);
          expect(problem.column).toBeGreaterThanOrEqual(1);
          expect(problem.column).toBeLessThanOrEqual((lines[problem.line - 1]?.length ?? 0) + 2);
          expect(problem.message).not.toBe('');
          expect(problem.hint).not.toBe('');
        }
      }),
      runs(500),
    );
  });

  it('survives texts made to break parsers', () => {
    // Deep enough to overflow a stack. That time is linear, `npm run bench hostile` shows.
    for (const [name, text] of Object.entries(hostileTexts(10_000))) expect(read(text).again === text, name).toBe(true);
  });
});
