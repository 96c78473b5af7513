import {optionsText} from '../../policy/ask.ts';
import {judgeTool} from '../../policy/judge.ts';
import {failure} from '../tool/failure.ts';
import type {JudgingTool} from '../tool/tool.ts';

const LONGEST_TITLE = 200;

/** A question never executes: the daemon takes the person's answer as its result. */
export const askHumanTool: JudgingTool<'ask_human'> = {
  prepare: async ({question, options: given = []}, policy, {agent}) => {
    const {verdict, reason} = judgeTool('ask_human', policy, {agent});
    const title = oneLine(question);
    // One line each: an option with line breaks could look like several.
    const options = given.map(oneLine).filter(option => option !== '');
    return {
      verdict: verdict === 'deny' ? 'deny' : 'ask',
      reason,
      execute: () => failure('FAILED', 'nobody has answered'),
      ask: () =>
        title === ''
          ? failure('INVALID_ARGUMENTS', 'question: expected a question, got nothing but blanks')
          : {
              type: 'question',
              title: `question: ${title.length > LONGEST_TITLE ? `${title.slice(0, LONGEST_TITLE - 1)}…` : title}`,
              risk: {level: 'LOW', factors: []},
              why: ['only you can answer it'],
              parts: [
                {label: 'Question', text: question},
                ...(options.length > 0 ? [{label: 'Options', text: optionsText(options)}] : []),
              ],
              question: {options},
            },
    };
  },
};

function oneLine(text: string): string {
  return text.replace(/[\s\u0085]+/g, ' ').trim();
}
