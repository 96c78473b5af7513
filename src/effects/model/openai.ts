import type {ServerChoice} from '../../formats/model-choice.ts';
import {withoutKey} from '../../policy/redact/redact-server-error.ts';
import type {Answer, ModelRequest} from './answer.ts';
import {answerToBrokenConnection, answerToRefusal, refusalOf} from './failure.ts';
import {readAnswer} from './read-answer.ts';
import {baseUrlOf, hostOf, type Server} from './server.ts';
import {SilenceTimer} from './silence-timer.ts';

/** Ask a model for the next message. Never throws. */
export async function askOpenAI(server: Server, choice: ServerChoice, request: ModelRequest): Promise<Answer> {
  if (request.signal.aborted) return {aborted: true};
  if (!isWeb(baseUrlOf(choice)))
    return {
      failed: 'the base URL of the model must be an http or https URL without a user name and password',
      hint: 'correct base_url in agentdir.yaml, or OPENAI_BASE_URL, then set "status: active" in the session to try again',
    };
  const timer = new SilenceTimer(choice.silenceMs);
  let abort = () => {};
  const aborted = new Promise<Answer>(resolve => {
    abort = () => {
      resolve({aborted: true});
      timer.stop();
    };
  });
  request.signal.addEventListener('abort', abort, {once: true});
  try {
    const answer = await Promise.race([aborted, ask(server, choice, request, timer)]);
    return cleaned(answer, choice.apiKey);
  } finally {
    timer.end();
    request.signal.removeEventListener('abort', abort);
  }
}

async function ask(server: Server, choice: ServerChoice, request: ModelRequest, timer: SilenceTimer): Promise<Answer> {
  let model = choice.id;
  try {
    model ??= firstForChat(await server.models());
    if (model === undefined)
      return {
        failed: `${hostOf(choice)} lists no model`,
        hint: 'name one: default_model in agentdir.yaml, or OPENAI_MODEL, then set "status: active" in the session',
      };
    return await readAnswer(await send(server, model, request, timer), choice, model, request, timer);
  } catch (error) {
    if (request.signal.aborted) return {aborted: true};
    if (timer.isOver || isTimeout(error)) return silence(choice);
    const refusal = refusalOf(error);
    if (refusal?.status === undefined) return answerToBrokenConnection(error, choice);
    const answer = answerToRefusal(refusal, choice, model);
    if (refusal.status === 404 && 'failed' in answer) return await afterNotFound(server, choice, answer, timer);
    return answer;
  }
}

async function send(server: Server, model: string, request: ModelRequest, timer: SilenceTimer): Promise<Response> {
  const client = await server.client();
  // Loading the client took time; the server has not been asked yet.
  timer.heard(true);
  const post = (usage: boolean) =>
    client.chat.completions
      .create(
        {
          model,
          messages: [...request.messages],
          stream: true,
          ...(usage ? {stream_options: {include_usage: true}} : {}),
          ...(request.tools.length > 0
            ? {tools: request.tools.map(tool => ({type: 'function' as const, function: {...tool}}))}
            : {}),
        },
        {signal: timer.signal},
      )
      .asResponse();
  if (server.rejectsUsageOption) return post(false);
  try {
    return await post(true);
  } catch (error) {
    const refusal = refusalOf(error);
    const unknown =
      (refusal?.status === 400 || refusal?.status === 422) &&
      /stream_options|include_usage/.test(`${refusal.param} ${refusal.message}`);
    if (!unknown) throw error;
    server.rejectsUsageOption = true;
    return post(false);
  }
}

/** List the available models in the hint. If we chose the model from the server's list, ask for the list again. */
async function afterNotFound(
  server: Server,
  choice: ServerChoice,
  answer: {failed: string; hint: string; tooLong?: true},
  timer: SilenceTimer,
): Promise<Answer> {
  if (choice.id === undefined) {
    server.forgetModels();
    return {retry: answer.failed, kind: 'server', after: undefined};
  }
  timer.heard(true);
  const models = await server.models().catch((): string[] => []);
  if (models.length === 0 || models.includes(choice.id)) return answer;
  const some = models.slice(0, 5).join(', ');
  return {
    ...answer,
    hint: `${answer.hint}. It has ${some}${models.length > 5 ? ` and ${models.length - 5} more` : ''}`,
  };
}

const notForChat = /embed|whisper|tts|dall-e|moderation|image|audio|realtime|transcribe|rerank|sora|babbage|davinci/i;

function firstForChat(models: readonly string[]): string | undefined {
  return models.find(id => !notForChat.test(id)) ?? models[0];
}

function silence(choice: ServerChoice): Answer {
  const seconds = Number((choice.silenceMs / 1000).toFixed(1));
  return {retry: `${hostOf(choice)} said nothing for ${seconds} s`, kind: 'silence', after: undefined};
}

/** A timeout of the SDK or of Node: while listing models, or when Node's limit is shorter than ours. */
function isTimeout(error: unknown): boolean {
  return (
    error instanceof Error &&
    (/^(?:TimeoutError|AbortError)$/.test(error.name) || /^Request (?:was aborted|timed out)\.$/.test(error.message))
  );
}

function isWeb(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const {protocol, username, password} = new URL(text);
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '';
}

function cleaned(answer: Answer, key: string | undefined): Answer {
  if ('retry' in answer) return {...answer, retry: withoutKey(answer.retry, key)};
  if ('failed' in answer)
    return {...answer, failed: withoutKey(answer.failed, key), hint: withoutKey(answer.hint, key)};
  return answer;
}
