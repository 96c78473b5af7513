import {newRecord} from '../files/inbox.ts';
import {appendLines} from '../store/append-line.ts';
import {crashPoint} from '../store/crash.ts';
import type {Serving} from './serving.ts';

/** What was sent to somebody outside, in the inbox file that their answers come to. It is never delivered. */
export async function recordSent(
  {home, redact}: Pick<Serving, 'home' | 'redact'>,
  file: string,
  record: Readonly<Record<string, unknown>>,
): Promise<void> {
  crashPoint('message-sent');
  await appendLines(home, `inbox/${file}`, newRecord({direction: 'out', ...redact.value(record)}));
}
