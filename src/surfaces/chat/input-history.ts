import {appendFileSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {redactMessage} from '../actions/talk/redact-message.ts';

const FILE = '.agentdir/chat-history.jsonl';
const KEPT = 500;

/** Earlier inputs of this home, oldest first. Must not throw: history is a convenience. */
export function readInputs(home: string): string[] {
  try {
    const lines = readFileSync(join(home, FILE), 'utf8').split('\n').filter(Boolean);
    const texts = lines.flatMap(line => {
      const value: unknown = parsed(line);
      return typeof value === 'string' ? [value] : [];
    });
    if (lines.length > 2 * KEPT)
      writeFileSync(
        join(home, FILE),
        texts
          .slice(-KEPT)
          .map(text => `${JSON.stringify(text)}\n`)
          .join(''),
        {mode: 0o600},
      );
    return texts.slice(-KEPT);
  } catch {
    return [];
  }
}

/** Adds an input, without credentials. Must not throw. */
export function addInput(home: string, text: string): void {
  try {
    mkdirSync(dirname(join(home, FILE)), {recursive: true});
    appendFileSync(join(home, FILE), `${JSON.stringify(redactMessage(home, text).content)}\n`, {mode: 0o600});
  } catch {
    // A full disk, or a home that cannot be written.
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
