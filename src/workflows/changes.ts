import {isDeepStrictEqual} from 'node:util';
import type {With} from '../agents/state/parts.ts';
import type {RunChange} from '../agents/state/workflows.ts';
import {isMap} from '../formats/common/values.ts';
import {type Run, runPath} from '../formats/run.ts';
import {editYaml} from '../formats/yaml/yaml-edit.ts';
import {lookAgain} from '../loop/look-again.ts';
import {PATIENCE_MS} from './documents.ts';

/** Change a run.yaml. Resolves to true once the change is durable, or to false if it could not be written in time. */
export function changeRun(
  {files, workflows}: With<'files' | 'workflows'>,
  instance: string,
  words: string,
  apply: RunChange['apply'],
): Promise<boolean> {
  const path = runPath(instance);
  return new Promise(resolve => {
    const change: RunChange = {
      apply,
      words,
      written: () => {
        cancel();
        resolve(true);
      },
    };
    const cancel = files.disk.clock.after(
      PATIENCE_MS,
      () => workflows.changes.remove(path, change) && resolve(false),
      'held',
    );
    workflows.changes.add(path, change);
    lookAgain(files, path);
  });
}

/** The text of a run.yaml after a change: only the lines of what has changed differ. */
export function withChanges(text: string, before: Run, after: Run): string {
  let result = text;
  const [old, now] = [before as Record<string, unknown>, after as Record<string, unknown>];
  for (const key of new Set([...Object.keys(old), ...Object.keys(now)]))
    result = withKey(result, [key], old[key], now[key]);
  return result;
}

function withKey(text: string, path: readonly string[], old: unknown, now: unknown): string {
  if (isDeepStrictEqual(old, now)) return text;
  if (now === undefined) return editYaml(text, {remove: path});
  if (!isMap(old) || !isMap(now) || path.length > 2) return editYaml(text, {set: path, to: now});
  let result = text;
  for (const key of new Set([...Object.keys(old), ...Object.keys(now)]))
    result = withKey(result, [...path, key], old[key], now[key]);
  return result;
}
