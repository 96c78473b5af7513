import type {Price} from '../../formats/model-choice.ts';
import type {ModelRequest, ModelUsage, Reply} from './answer.ts';

/** About so many characters are a token. */
const CHARACTERS = 4;

/** What a turn used, if the server does not say: an estimate, so that limits hold there too. */
export function estimateUsage(
  {messages, tools}: Pick<ModelRequest, 'messages' | 'tools'>,
  reply: Reply,
  price: Price | undefined,
): ModelUsage {
  const tokens = (value: unknown) => Math.ceil(JSON.stringify(value).length / CHARACTERS);
  const usage = {input_tokens: tokens([messages, tools]), output_tokens: tokens([reply.content, reply.calls])};
  const cost = price && (usage.input_tokens * price.input + usage.output_tokens * price.output) / 1e6;
  return {...usage, ...(cost !== undefined && {cost_usd: Number(cost.toFixed(6))}), estimated: true};
}
