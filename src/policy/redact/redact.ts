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

export interface Redactor {
  /** Returns the same string if there are no secrets. Idempotent. */
  text: (text: string, onFound?: (label: string) => void) => string;
  /** Redacts all strings in a JSON value, including keys; returns the same value if there are no secrets. */
  value: <T>(value: T) => T;
  /** For text in pieces: a secret may span several. */
  stream: () => RedactedStream;
}

/** The concatenated output equals `text` of the concatenated input. */
export interface RedactedStream {
  /** Returns all but a tail that may be the beginning of a secret. */
  push: (piece: string) => string;
  /** Returns what was held back. */
  end: () => string;
}

export interface Secret {
  /** Name of the variable that holds it. */
  name: string;
  value: string;
  /** A person declared it a key: redact it even if it looks like a word or number. */
  named?: boolean;
}

const patternLabels = [...tokenLabels, ...blockLabels, ...assignmentLabels];
const patterns = makeScanner([replacements(patternLabels), ...patternMatchers()]);

function patternMatchers(): Matcher[] {
  return [...tokenMatchers, ...blockMatchers, ...assignmentMatchers()];
}

export function findCredentials(text: string): SecretHit[] {
  const hits: SecretHit[] = [];
  replaceAll(patterns, text, hit => hits.push(hit));
  return hits;
}

/** Redacts the values of `secrets` in all their forms, then whatever looks like a credential. */
export function makeRedactor(secrets: readonly Secret[]): Redactor {
  const own = replacements([...secrets.map(({name}) => labelOf(name)), ...patternLabels]);
  const exact = exactMatchers(secrets);
  const values = makeScanner([own, ...exact]);
  const rest = makeScanner([own, ...patternMatchers()]);
  const both = makeScanner([own, ...exact, ...patternMatchers()]);

  const text: Redactor['text'] = (given, onFound) => {
    // Most texts have no secrets; scan them only once.
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
  // Match longer values first. Exclude values that occur in our own replacements.
  return [...labels]
    .filter(([value]) => ![...labels.values()].some(label => replacementOf(label).includes(value)))
    .sort(([a], [b]) => b.length - a.length)
    .flatMap(([value, label]) => matchersOf(label, value));
}

/** Safe in JSON, YAML and commit messages. */
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
