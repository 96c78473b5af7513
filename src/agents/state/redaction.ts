import type {Answer, Reply} from '../../effects/model/answer.ts';
import {connectorVariables} from '../../formats/connector-settings.ts';
import type {DaemonEvent, Report} from '../../formats/daemon-event.ts';
import type {Settings} from '../../formats/settings.ts';
import type {Random} from '../../home/disk/random.ts';
import {makeRedactor, type Redactor} from '../../policy/redact/redact.ts';
import {secretsOf} from '../../policy/redact/secret-names.ts';

/** The daemon's redactor. Which variables hold the models' keys is a matter of settings, which may change. */
export interface Redaction extends Redactor {
  follow: (settings: Settings) => void;
}

export function makeRedaction(env: NodeJS.ProcessEnv): Redaction {
  let known: Settings | undefined;
  let names = '';
  let redactor = makeRedactor(secretsOf([], env));
  return {
    text: (text, onFound) => redactor.text(text, onFound),
    value: value => redactor.value(value),
    stream: () => redactor.stream(),
    follow(settings) {
      if (settings === known) return;
      known = settings;
      const embeddings = settings.search?.embeddings;
      const servers = [...(settings.models ?? []), ...(typeof embeddings === 'object' ? [embeddings] : [])];
      const variables = [...servers.flatMap(({api_key_env}) => api_key_env ?? []), ...connectorVariables(settings)];
      if (variables.join() === names) return;
      names = variables.join();
      redactor = makeRedactor(secretsOf(variables, env));
    },
  };
}

/** Before anything is done with it: what is recorded is what runs. */
export function redactAnswer<T extends Answer | {limited: true}>(redact: Redactor, random: Random, answer: T): T {
  return 'reply' in answer ? {...answer, reply: redactReply(redact, random, answer.reply)} : redact.value(answer);
}

function redactReply(redact: Redactor, random: Random, reply: Reply): Reply {
  const {content, calls, model} = reply;
  return {
    ...reply,
    content: content === null ? null : redact.text(content),
    model: redact.text(model),
    calls: calls.map(({id, name, arguments: args}, i) => ({
      // An id is there once.
      id: redact.text(id) === id ? id : `${redact.text(id)}-${i}-${random.bytes(6).toString('hex')}`,
      name: redact.text(name),
      arguments: redactArguments(redact, args),
    })),
  };
}

/** Numbers of a JSON text, and the strings between them, in which digits are none. */
const literal = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/gs;

/**
 * JSON stays JSON: what is replaced are strings within it, and numbers as they are written. What the text has and the
 * value has not (of two equal keys the last counts) is gone afterwards.
 */
function redactArguments(redact: Redactor, args: string): string {
  const whole = redact.text(args);
  try {
    const value: unknown = JSON.parse(args);
    const redacted = redact.value(value);
    if (whole === args) return redacted === value ? args : JSON.stringify(redacted);
    const quoted = args.replace(literal, each =>
      each.startsWith('"') || redact.text(each) === each ? each : JSON.stringify(redact.text(each)),
    );
    return redact.text(JSON.stringify(redact.value(JSON.parse(quoted))));
  } catch {
    return whole;
  }
}

/** What happens, told without secrets. A file that has one is told of without an excerpt. */
export function redactReport(redact: Redactor, report: Report): Report {
  // All problems of a file are told one after the other: its text is looked through once.
  let looked: {text: string | undefined; shown: string | undefined} = {text: undefined, shown: undefined};
  return event => {
    if (event.event !== 'problem') {
      looked = {text: undefined, shown: undefined};
      return report(redact.value(event));
    }
    const {text, ...rest} = event;
    if (text !== looked.text)
      looked = {text, shown: text !== undefined && redact.text(text) === text ? text : undefined};
    report({...redact.value(rest), text: looked.shown} satisfies DaemonEvent);
  };
}

/** The same failure, in words without secrets. */
export function redactError(redact: Redactor, error: unknown): unknown {
  if (!(error instanceof Error)) return typeof error === 'string' ? redact.text(error) : error;
  error.message = redact.text(error.message);
  if (error.stack !== undefined) error.stack = redact.text(error.stack);
  return error;
}
