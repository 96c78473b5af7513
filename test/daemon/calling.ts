import type {House} from './house.ts';
import {atRest, begin, whenIt} from './talk.ts';

/** A call as a model makes it; its id is `c0`, `c1`… by its place in the whole session. */
export interface Wanted {
  name: string;
  arguments: Record<string, unknown>;
}

/** What the model is told of one. */
export interface Result {
  success: boolean;
  code?: string;
  error?: string;
  stdout?: string;
  stderr?: string;
  [key: string]: unknown;
}

export const command = (text: string, more: Record<string, unknown> = {}): Wanted => ({
  name: 'execute_command',
  arguments: {command: text, ...more},
});

/** Its id is the first word of its first message: the server tells conversations apart by that. */
export function playCalls({stage}: Pick<House, 'stage'>, id: string, ...answers: Wanted[][]): void {
  const before = (nth: number) => answers.slice(0, nth).flat().length;
  stage.parts.set(id, (_, nth) => ({
    ...(answers[nth]
      ? {calls: answers[nth].map((call, i) => ({id: `c${before(nth) + i}`, ...call}))}
      : {text: 'That is all.'}),
  }));
}

/** A session of `talker` whose model makes these calls, those of an answer together, and then ends. */
export function calling(house: House, id: string, ...answers: Wanted[][]): void {
  playCalls(house, id, ...answers);
  begin(house.home, id, `${id} please`);
}

/** When nothing is left to do for it: the results of its calls, in order. */
export async function resultsOf({home}: House, id: string, ms?: number): Promise<Result[]> {
  const {messages} = await whenIt(home, id, atRest, ms);
  return messages.filter(({role}) => role === 'tool_result').map(({content}) => JSON.parse(content ?? '') as Result);
}
