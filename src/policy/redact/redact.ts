import {assignmentLabels, assignmentMatchers} from './redact-assignments.ts';
import {blockLabels, blockMatchers} from './redact-blocks.ts';
import {isWorthHiding, SHORTEST_KEY, standsForNone} from './redact-credential.ts';
import {matchersOf} from './redact-forms.ts';
import {
  type Matcher,
  makeScanner,
  makeStage,
  replaceAll,
  replacementOf,
  replacements,
  type SecretHit,
} from './redact-scan.ts';
import {tokenLabels, tokenMatchers} from './redact-tokens.ts';

/** Takes secrets out of texts. */
export interface Redactor {
  /** The text without them; the same string if it has none. Doing it twice changes nothing more. */
  text: (text: string, onFound?: (label: string) => void) => string;
  /** Every string within a JSON value, keys too; the same value if it has none. */
  value: <T>(value: T) => T;
  /** For text that comes in pieces: a secret may lie across them. */
  stream: () => RedactedStream;
}

/** All pieces together are what `text` makes of the whole. */
export interface RedactedStream {
  /** What may be shown now: all but a tail that may be the beginning of a secret. */
  push: (piece: string) => string;
  /** What was held back. */
  end: () => string;
}

export interface Secret {
  /** Where it comes from, for people: the name of a variable. */
  name: string;
  value: string;
  /** A person said that it is a key: then it is one, even if it looks like a word or a number. */
  named?: boolean;
}

const patternLabels = [...tokenLabels, ...blockLabels, ...assignmentLabels];
const patterns = makeScanner([replacements(patternLabels), ...patternMatchers()]);

function patternMatchers(): Matcher[] {
  return [...tokenMatchers, ...blockMatchers, ...assignmentMatchers()];
}

/** What looks like a credential in a text, and where. */
export function findCredentials(text: string): SecretHit[] {
  const hits: SecretHit[] = [];
  replaceAll(patterns, text, hit => hits.push(hit));
  return hits;
}

/** The values of `secrets` in all their forms, then whatever looks like a credential. */
export function makeRedactor(secrets: readonly Secret[]): Redactor {
  const own = replacements([...secrets.map(({name}) => labelOf(name)), ...patternLabels]);
  const exact = exactMatchers(secrets);
  const values = makeScanner([own, ...exact]);
  const rest = makeScanner([own, ...patternMatchers()]);
  const both = makeScanner([own, ...exact, ...patternMatchers()]);

  const text: Redactor['text'] = (given, onFound) => {
    // Most texts have none: they are looked at once.
    if (!both.next(given, 0, true)) return given;
    const tell = onFound && (({label}: SecretHit) => onFound(label));
    return replaceAll(rest, replaceAll(values, given, tell), tell);
  };
  return {
    text,
    value: given => redactValue(given, text) as typeof given,
    stream() {
      const first = makeStage(values);
      const second = makeStage(rest);
      return {
        push: piece => second(first(piece, false), false),
        end: () => second(first('', true), true),
      };
    },
  };
}

function exactMatchers(secrets: readonly Secret[]): Matcher[] {
  const labels = new Map<string, string>();
  for (const {name, value, named} of secrets) {
    const trimmed = value.trim();
    const isKey = named ? trimmed.length >= SHORTEST_KEY && !standsForNone(trimmed) : isWorthHiding(trimmed);
    if (isKey && !labels.has(trimmed)) labels.set(trimmed, labelOf(name));
  }
  // Of two that begin alike the longer one is looked for first. What we write ourselves is no secret.
  return [...labels]
    .filter(([value]) => ![...labels.values()].some(label => replacementOf(label).includes(value)))
    .sort(([a], [b]) => b.length - a.length)
    .flatMap(([value, label]) => matchersOf(label, value));
}

/** Harmless in JSON, YAML and commit messages. */
function labelOf(name: string): string {
  return name.replace(/[^A-Za-z0-9_.-]/g, '_').slice(0, 80);
}

function redactValue(value: unknown, text: Redactor['text']): unknown {
  if (typeof value === 'string') return text(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const all = value.map(each => redactValue(each, text));
    return all.some((each, i) => each !== value[i]) ? all : value;
  }
  const entries = Object.entries(value);
  const all = entries.map(([key, each]) => [text(key), redactValue(each, text)] as const);
  return all.some(([key, each], i) => key !== entries[i]?.[0] || each !== entries[i]?.[1])
    ? Object.fromEntries(all)
    : value;
}
