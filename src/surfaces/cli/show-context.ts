import {exit} from '../../formats/common/errors.ts';
import {makeVisible, visibleLine} from '../../formats/common/visible.ts';
import {grouped} from '../../formats/session/spent.ts';
import {type ContextNow, contextNow} from '../actions/sessions/context-now.ts';
import {namedSession} from '../actions/sessions/named-session.ts';
import {colors, plural, print, printJson, printWhole} from '../terminal/output.ts';

/** Print the request that the model of a session would be sent now, and the sizes of its parts. */
export async function showContextCommand(options: {home: string; id: string; json: boolean}): Promise<number> {
  const {home, id, json} = options;
  const file = namedSession(home, id);
  const context = await contextNow(home, file);
  const sizes = tokensOf(context);
  const {model, window, most, tokens, checkpoint, count, shortened, messages, tools} = context;
  if (json) {
    printJson({
      ...{session: file.id, file: file.path, model},
      ...{context_tokens: window ?? null, limit: most ?? null, tokens, parts: sizes},
      ...{messages_of_session: count, shortened_results: shortened, checkpoint: checkpoint ?? null},
      ...{messages, tools},
    });
    return exit.done;
  }
  const since = checkpoint?.upto ?? 0;
  const rows: [string, number][] = [
    ['system prompt', sizes.system],
    [plural(tools.length, 'tool'), sizes.tools],
    ...(checkpoint ? [[`checkpoint, for messages 1 to ${since}`, sizes.checkpoint] as [string, number]] : []),
    [
      `${plural(count - since, 'message')}${shortened > 0 ? `, ${plural(shortened, 'long result')} shortened` : ''}`,
      sizes.messages,
    ],
    ['together', tokens],
  ];
  print(`${colors.bold(visibleLine(file.id))} ${colors.dim(file.path)}`);
  const limit =
    window === undefined ? 'window unknown' : `compacted beyond ${grouped(most ?? 0)} of ${grouped(window)} tokens`;
  print(`  model ${visibleLine(model)}, ${limit}`);
  if (checkpoint) print(`  version ${checkpoint.version}: ${visibleLine(checkpoint.file)}`);
  for (const [what, size] of rows) print(`  ${grouped(size).padStart(9)} tokens  ${what}`);
  for (const message of messages) {
    const calls = 'tool_calls' in message ? (message.tool_calls ?? []) : [];
    printWhole(`\n${colors.cyan(`── ${message.role} ──`)}`);
    if (message.content) printWhole(makeVisible(message.content, false));
    for (const {
      function: {name, arguments: args},
    } of calls)
      printWhole(`→ ${makeVisible(name)} ${makeVisible(args, false)}`);
  }
  return exit.done;
}

/** Estimated tokens of each part. */
function tokensOf({parts, charactersPerToken}: ContextNow): ContextNow['parts'] {
  const of = (size: number) => Math.round(size / charactersPerToken);
  const {system, tools, checkpoint, messages} = parts;
  return {system: of(system), tools: of(tools), checkpoint: of(checkpoint), messages: of(messages)};
}
