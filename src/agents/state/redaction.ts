import type {Reply} from '../../effects/model/answer.ts';
import {connectorVariables} from '../../formats/connector-settings.ts';
import type {DaemonEvent, Report} from '../../formats/daemon-event.ts';
import type {Settings} from '../../formats/settings.ts';
import type {Random} from '../../home/disk/random.ts';
import {makeRedactor, type Redactor} from '../../policy/redact/redact.ts';
import {secretsOf} from '../../policy/redact/secret-names.ts';

/** The daemon's redactor. `follow` updates the variables that hold keys, which the settings name. */
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
      const embedder = typeof embeddings === 'object' ? [embeddings.api_key_env] : [];
      const models = (settings.models ?? []).flatMap(({api_key_env, api_env_var}) => [api_key_env, api_env_var]);
      const keys = [...models, ...embedder].filter(name => name !== undefined);
      const variables = [...keys, ...connectorVariables(settings)];
      if (variables.join() === names) return;
      names = variables.join();
      redactor = makeRedactor(secretsOf(variables, env));
    },
  };
}

/** Call before an answer is used, so that recorded calls equal executed calls. */
export function redactAnswer<T extends object>(redact: Redactor, random: Random, answer: T): T {
  return 'reply' in answer
    ? {...answer, reply: redactReply(redact, random, answer.reply as Reply)}
    : redact.value(answer);
}

function redactReply(redact: Redactor, random: Random, reply: Reply): Reply {
  const {content, calls, model} = reply;
  return {
    ...reply,
    content: content === null ? null : redact.text(content),
    model: redact.text(model),
    calls: calls.map(({id, name, arguments: args}, i) => ({
      // Keep ids unique.
      id: redact.text(id) === id ? id : `${redact.text(id)}-${i}-${random.bytes(6).toString('hex')}`,
      name: redact.text(name),
      arguments: redactArguments(redact, args),
    })),
  };
}

/** Matches numbers in JSON text. Also matches strings, to skip the digits in them. */
const literal = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/gs;

/**
 * Redact strings and numbers within JSON text; the result is valid JSON. Of duplicate keys only the last remains if
 * anything is redacted.
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

/** Wraps `report` to remove secrets. Problems in a file that contains a secret are reported without an excerpt. */
export function redactReport(redact: Redactor, report: Report): Report {
  // Problems of a file are reported in sequence: scan its text once.
  let scanned: {text: string | undefined; shown: string | undefined} = {text: undefined, shown: undefined};
  return event => {
    if (event.event !== 'problem') {
      scanned = {text: undefined, shown: undefined};
      return report(redact.value(event));
    }
    const {text, ...rest} = event;
    if (text !== scanned.text)
      scanned = {text, shown: text !== undefined && redact.text(text) === text ? text : undefined};
    report({...redact.value(rest), text: scanned.shown} satisfies DaemonEvent);
  };
}

/** Remove secrets from an error, in place. */
export function redactError(redact: Redactor, error: unknown): unknown {
  if (!(error instanceof Error)) return typeof error === 'string' ? redact.text(error) : error;
  error.message = redact.text(error.message);
  if (error.stack !== undefined) error.stack = redact.text(error.stack);
  return error;
}
