import {type ActiveCheckpoint, activeCheckpoint} from '../../decide/context-versions.ts';
import {isMap} from '../../formats/common/values.ts';
import {makeVisible, visibleLine} from '../../formats/common/visible.ts';
import type {Call, Message, SessionHeader} from '../../formats/session/session-schema.ts';
import {grouped} from '../../formats/session/spent.ts';
import {callWords} from '../../policy/call-words.ts';
import type {ChildRow} from '../actions/sessions/children.ts';
import {errorOf, usageOf} from '../actions/talk/answer.ts';
import {colors, plural, shortCall} from '../terminal/output.ts';
import {localTime, shorten} from './short-text.ts';

const RESULT_LINES = 6;
const RESULT_CHARS = 600;

/** Renders a session. `older`: number of messages in segments. `children`: sessions that do tasks for it. */
export function transcript(
  id: string,
  path: string,
  header: SessionHeader,
  messages: readonly Message[],
  {older = 0, children = []}: {older?: number; children?: readonly ChildRow[]} = {},
): string {
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
  if (header.parent)
    facts.push(`  a task for ${makeVisible(header.parent.session)}, call ${makeVisible(header.parent.call)}`);
  if (header.result) facts.push(`  ${resultLine(header.result)}`);
  facts.push(...children.flatMap(child => childLines(child, '  ')));
  const names = new Map(
    messages.flatMap(({tool_calls = []}) => tool_calls.map(call => [call.id, callWords(call.function)])),
  );
  const checkpoint = activeCheckpoint(header);
  const entries = messages.flatMap((_, i) => {
    const number = older + i + 1;
    const text = entry(messages, i, names, number);
    return checkpoint?.upto === number ? [text, checkpointLine(checkpoint)] : [text];
  });
  if (checkpoint && checkpoint.upto <= older) facts.push(checkpointLine(checkpoint));
  return [facts.join('\n'), ...entries].join('\n\n');
}

/** Where the checkpoint lies: the messages above are not sent themselves. */
function checkpointLine({entry: {version, tokens_before, tokens_after}, upto, file}: ActiveCheckpoint): string {
  const size = tokens_before === undefined ? '' : `, ${grouped(tokens_before)} to ${grouped(tokens_after ?? 0)} tokens`;
  return colors.yellow(
    `── checkpoint (version ${version}): messages 1 to ${upto} are sent as ${makeVisible(file)}${size} ──`,
  );
}

function resultLine({status, summary, error, artifacts}: NonNullable<SessionHeader['result']>): string {
  const paint = status === 'completed' ? colors.green : colors.red;
  const files = artifacts.length > 0 ? colors.dim(`  ${makeVisible(artifacts.slice(0, 8).join(', '))}`) : '';
  const words = visibleLine(error ?? summary);
  return `${paint(status)} ${words}${files}`;
}

/** A session that does a task, and those that do tasks for it. */
function childLines(child: ChildRow, indent: string): string[] {
  const {session, agent, status, tool_calls, tokens_used, cost_usd, duration_seconds, children} = child;
  const paint = status === 'completed' ? colors.green : status === 'running' ? colors.cyan : colors.yellow;
  const cost = tokens_used === 0 ? '' : cost_usd === null ? 'cost unknown' : `$${cost_usd.toFixed(4)}`;
  const about = [plural(tool_calls, 'call'), `${tokens_used} tokens`, cost, `${duration_seconds} s`].filter(Boolean);
  return [
    `${indent}└ ${makeVisible(session)} ${colors.cyan(`@${makeVisible(agent)}`)} ${paint(status)}  ${colors.dim(about.join(', '))}`,
    ...children.flatMap(each => childLines(each, `${indent}  `)),
  ];
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
  const cost = usage.cost_usd === undefined ? ', cost unknown' : `, $${usage.cost_usd.toFixed(4)}`;
  return `${usage.input_tokens ?? 0} tokens in, ${usage.output_tokens ?? 0} out${cost}`;
}

function entry(
  messages: readonly Message[],
  index: number,
  names: ReadonlyMap<string, string>,
  number: number,
): string {
  const message = messages[index] as Message;
  const {role, from, timestamp, model, usage, content, tool_calls = [], tool_call_id, untrusted, pin} = message;
  const isResult = role === 'tool_result';
  const who = isResult
    ? `result of ${names.get(tool_call_id ?? '') ?? tool_call_id}`
    : role === 'user'
      ? (from ?? 'user')
      : role;
  const beside = [model, usage && usageWords(usage), untrusted ? 'untrusted' : '', pin ? 'pinned' : '']
    .filter(Boolean)
    .join(', ');
  const paint = role === 'assistant' ? colors.cyan : role === 'user' ? colors.green : colors.dim;
  const head = [
    colors.dim(`#${number}`),
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
  for (const call of tool_calls) {
    const {name, arguments: args} = call.function;
    const result = messages.find((each, i) => i > index && each.tool_call_id === call.id);
    const {state, instead} = stateOf(call, result?.content ?? undefined);
    lines.push(`  ${colors.dim('→')} ${makeVisible(shortCall(name, args))}${state}`);
    if (instead)
      lines.push(colors.yellow('    changed by a person to:'), makeVisible(instead).replace(/^(?=.)/gm, '      '));
  }
  return lines.join('\n');
}

/** The approval state of a call. */
function stateOf({approval, started}: Call, content: string | undefined): {state: string; instead?: string} {
  const id = approval === undefined ? '' : makeVisible(approval);
  if (content === undefined) {
    if (started) return {state: colors.cyan(' runs')};
    return {state: id && colors.yellow(` waits for ${id}`)};
  }
  if (!id) return {state: ''};
  const {code, edited, answer} = resultIn(content);
  if (typeof answer === 'string') return {state: colors.green(` answered (${id})`)};
  if (code === 'REJECTED') return {state: colors.red(` rejected (${id})`)};
  if (code === 'EXPIRED') return {state: colors.yellow(` expired (${id})`)};
  const {network, sandbox, ...texts} = isMap(edited) ? edited : {};
  const granted = [network && 'with network access', sandbox && 'outside the sandbox'].filter(Boolean).join(', ');
  const instead = Object.values(texts).find(value => typeof value === 'string');
  return {
    state: started || code === undefined ? colors.green(` approved ${granted && `${granted} `}(${id})`) : '',
    ...(instead !== undefined && {instead: shorten(String(instead), RESULT_LINES, RESULT_CHARS)}),
  };
}

function resultIn(content: string): Record<string, unknown> {
  try {
    const result: unknown = JSON.parse(content);
    return isMap(result) ? result : {};
  } catch {
    return {};
  }
}

/** Shows command output and answers as plain text, other results as they are. */
function resultText(content: string): string {
  const {error, stdout, stderr, ran, duration_ms, exit_code, answer, code} = resultIn(content);
  if (typeof answer === 'string') return answer;
  if (typeof code === 'string' && typeof error === 'string' && stdout === undefined) return `${code}: ${error}`;
  if (typeof stdout !== 'string' || typeof stderr !== 'string') return content;
  const how = typeof error === 'string' ? error : `exit code ${exit_code}`;
  return [`${how}, ${duration_ms} ms, ${ran}`, stdout.trimEnd(), stderr.trimEnd()].filter(Boolean).join('\n');
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}
