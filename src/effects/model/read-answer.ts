import {isMap} from '../../formats/common/values.ts';
import type {ServerChoice} from '../../formats/model-choice.ts';
import type {Answer, ModelRequest, RetryKind} from './answer.ts';
import {ReplyCollector} from './collect.ts';
import {Events} from './events.ts';
import {answerToRefusal, refusalOf} from './failure.ts';
import {hostOf} from './server.ts';
import type {SilenceTimer} from './silence-timer.ts';

/** Maximum size of an answer, in characters. */
const LARGEST = 8_000_000;
/** Only the usage may follow the end of an answer. */
const AFTER_THE_END_MS = 2000;

type Reader = ReadableStreamDefaultReader<Uint8Array>;
/** How reading ended: the server said so, the connection closed, the body is no answer, or it is too large. */
type End = 'said' | 'closed' | 'garbage' | 'too much';

/** Read a stream of events, or a complete body from a server that does not stream. Throws if the connection breaks. */
export async function readAnswer(
  response: Response,
  choice: ServerChoice,
  model: string,
  request: ModelRequest,
  timer: SilenceTimer,
): Promise<Answer> {
  const reader = (response.body ?? new Blob([]).stream()).getReader() as Reader;
  const found = new ReplyCollector(text => {
    if (!request.signal.aborted) request.onText(text);
  });
  let end: End;
  try {
    end = await readInto(found, reader, timer);
  } catch (error) {
    // The answer is complete; missing usage is not worth another call.
    if (found.finish === undefined || request.signal.aborted) throw error;
    end = 'closed';
  }
  if (end === 'said') drain(reader);
  else reader.cancel().catch(() => {});
  return conclude(found, end, choice) ?? {reply: found.reply(model, choice.price, request.session)};
}

async function readInto(found: ReplyCollector, reader: Reader, timer: SilenceTimer): Promise<End> {
  const events = new Events();
  for (;;) {
    const {value, done} = await reader.read();
    const data = events.read(done ? undefined : value);
    timer.heard(data.length > 0 || events.foreign !== undefined);
    for (const text of data) {
      if (text.startsWith('[DONE]')) return 'said';
      // The connection closed in the middle of this event.
      if (!addJson(found, text)) return done ? 'closed' : 'garbage';
      if (found.error !== undefined) return 'closed';
    }
    if (done && events.foreign !== undefined) return addJson(found, events.foreign) ? 'said' : 'garbage';
    if (done) return 'closed';
    if (found.finish !== undefined) timer.hurry(AFTER_THE_END_MS);
    if (events.pending + found.size > LARGEST) return 'too much';
  }
}

function addJson(found: ReplyCollector, text: string): boolean {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return false;
  }
  found.addChunk(value);
  return true;
}

/** Return the failure that the end means, or undefined if there is a reply. */
function conclude(found: ReplyCollector, end: End, choice: ServerChoice): Answer | undefined {
  const where = hostOf(choice);
  const retry = (words: string, kind: RetryKind): Answer => ({retry: `${where} ${words}`, kind, after: undefined});
  if (found.error !== undefined) {
    const refusal = refusalOf(isMap(found.error) ? found.error : {message: String(found.error)});
    if (refusal) return answerToRefusal(refusal, choice, found.model ?? choice.id);
  }
  if (end === 'too much') return retry('answered with more than anyone can read', 'garbage');
  if (end === 'garbage' && found.finish === undefined)
    return retry('returned something that is not an answer of a model', 'garbage');
  if (end === 'closed' && found.finish === undefined)
    return retry('closed the connection in the midst of its answer', 'connection');
  if (found.finish === 'error') return retry('failed in the midst of its answer', 'server');
  if (!found.isEmpty) return undefined;
  if (found.finish === 'content_filter')
    return {
      failed: `the content filter of ${where} let no answer pass`,
      hint: 'change the last message in the session, then set "status: active" to try again',
    };
  return retry(found.finish === 'length' ? 'answered nothing within its length limit' : 'answered nothing', 'empty');
}

const DRAIN_MS = 250;

/** Read the rest in the background: a connection is reused only if its response was read to the end. */
function drain(reader: Reader): void {
  const timer = setTimeout(() => void reader.cancel().catch(() => {}), DRAIN_MS);
  timer.unref();
  const toTheEnd = async (): Promise<void> => {
    while (!(await reader.read()).done);
  };
  toTheEnd()
    .catch(() => {})
    .finally(() => clearTimeout(timer));
}
