import type {Message, SessionHeader} from '../../files/session-schema.ts';
import {makeVisible} from '../../files/visible.ts';
import {callWords} from '../../policy/call-words.ts';
import {errorOf, usageOf} from '../talk/answer.ts';
import {colors, plural, shortCall} from './output.ts';
import {localTime, shorten} from './short-text.ts';

const RESULT_LINES = 6;
const RESULT_CHARS = 600;

/** A session for people to read. */
export function transcript(id: string, path: string, header: SessionHeader, messages: readonly Message[]): string {
  const facts = [
    `${colors.bold(makeVisible(id))} ${colors.cyan(`@${makeVisible(header.agent_id)}`)} ${header.status ?? 'new'}`,
    `  ${colors.dim(path)}`,
  ];
  const about = [header.model && `model ${header.model}`, plural(messages.length, 'message'), totals(messages)];
  facts.push(`  ${makeVisible(about.filter(Boolean).join(', '))}`);
  if (header.created)
    facts.push(`  created ${localTime(header.created)}, updated ${localTime(header.updated ?? header.created)}`);
  if (typeof header.waiting_for === 'string')
    facts.push(colors.yellow(`  waits for ${makeVisible(header.waiting_for)}`));
  if (header.status === 'error') facts.push(colors.red(`  ${makeVisible(errorOf(header))}`));
  for (const segment of header.segments ?? []) facts.push(colors.dim(`  earlier: ${makeVisible(segment)}`));
  const names = new Map(
    messages.flatMap(({tool_calls = []}) => tool_calls.map(call => [call.id, callWords(call.function)])),
  );
  return [facts.join('\n'), ...messages.map(message => entry(message, names))].join('\n\n');
}

function totals(messages: readonly Message[]): string {
  const usage = usageOf(messages);
  return usage ? usageWords(usage) : '';
}

function usageWords(usage: {
  input_tokens?: number | undefined;
  output_tokens?: number | undefined;
  cost_usd?: number | undefined;
}): string {
  const cost = usage.cost_usd === undefined ? '' : `, $${usage.cost_usd.toFixed(4)}`;
  return `${usage.input_tokens ?? 0} tokens in, ${usage.output_tokens ?? 0} out${cost}`;
}

function entry(message: Message, names: ReadonlyMap<string, string>): string {
  const {role, from, timestamp, model, usage, content, tool_calls = [], tool_call_id, untrusted} = message;
  const isResult = role === 'tool_result';
  const who = isResult
    ? `result of ${names.get(tool_call_id ?? '') ?? tool_call_id}`
    : role === 'user'
      ? (from ?? 'user')
      : role;
  const beside = [model, usage && usageWords(usage), untrusted ? 'untrusted' : ''].filter(Boolean).join(', ');
  const paint = role === 'assistant' ? colors.cyan : role === 'user' ? colors.green : colors.dim;
  const head = [
    paint(makeVisible(who)),
    timestamp ? colors.dim(localTime(timestamp)) : '',
    beside ? colors.dim(makeVisible(beside)) : '',
  ];
  const text =
    content === null || content === undefined
      ? ''
      : isResult
        ? shorten(resultText(content), RESULT_LINES, RESULT_CHARS)
        : content;
  const lines = [head.filter(Boolean).join('  ')];
  if (text !== '') lines.push(indented(makeVisible(text.trimEnd(), false)));
  for (const {function: called, approval, started} of tool_calls) {
    const state = started ? '' : approval ? colors.yellow(` waits for ${makeVisible(approval)}`) : '';
    lines.push(`  ${colors.dim('→')} ${makeVisible(shortCall(called.name, called.arguments))}${state}`);
  }
  return lines.join('\n');
}

/** What a command printed, as it printed it; any other result as it is. */
function resultText(content: string): string {
  let result: Partial<Record<'error' | 'stdout' | 'stderr' | 'ran' | 'duration_ms' | 'exit_code', unknown>>;
  try {
    result = JSON.parse(content) as typeof result;
  } catch {
    return content;
  }
  const {error, stdout, stderr, ran, duration_ms, exit_code} = result ?? {};
  if (typeof stdout !== 'string' || typeof stderr !== 'string') return content;
  const how = typeof error === 'string' ? error : `exit code ${exit_code}`;
  return [`${how}, ${duration_ms} ms, ${ran}`, stdout.trimEnd(), stderr.trimEnd()].filter(Boolean).join('\n');
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}
