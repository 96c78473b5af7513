import {existsSync, readdirSync} from 'node:fs';
import {join} from 'node:path';
import {expect} from 'vitest';
import {agentdir, git, until} from '../cli/run.ts';
import {read, type Served} from './serve.ts';

export const told = ({events}: Served, event: string) => events.filter(e => e.event === event).map(e => String(e.what));

/** Until the daemon says so where a person looks: a line of its output, NEEDS_YOU.md, `agentdir status`. */
export async function says(home: string, served: Served, words: RegExp): Promise<void> {
  await until(
    () => told(served, 'trouble'),
    troubles => troubles.some(what => words.test(what)),
  );
  await until(
    () => read(home, 'NEEDS_YOU.md'),
    text => words.test(text),
  );
  await until(
    async () => (await agentdir(home, ['status'])).stdout,
    text => words.test(text),
  );
}

/** Until it no longer does. */
export async function saysNoMore(home: string, served: Served, words: RegExp): Promise<void> {
  await until(
    async () => [read(home, 'NEEDS_YOU.md'), (await agentdir(home, ['status'])).stdout],
    texts => texts.every(text => text !== '' && !words.test(text)),
  );
  expect(told(served, 'over').some(what => words.test(what))).toBe(true);
}

/** No temporary file of anybody's, no lock, nothing torn. */
export function tidy(home: string): void {
  const left = readdirSync(home, {recursive: true, encoding: 'utf8'}).filter(path =>
    /\.tmp$|tmp_obj|\.lock$|agentdir\/locks\/.|agentdir\/replaced\/./.test(path),
  );
  expect(left.filter(path => path !== '.agentdir/locks/daemon' && !path.startsWith('.agentdir/replaced/'))).toEqual([]);
}

export async function sound(home: string, served: Served | undefined): Promise<void> {
  if (served) expect(await served.stop()).toBe(0);
  expect(served?.errors() ?? '').toBe('');
  tidy(home);
  expect(existsSync(join(home, '.agentdir/locks/daemon'))).toBe(false);
  expect(await git(home, 'status', '--porcelain')).toBe('');
  expect(await git(home, 'fsck', '--strict', '--no-dangling')).toBe('');
}
