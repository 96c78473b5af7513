import {nodeDisk} from '../../../home/disk/disk.ts';
import {readHomeFile} from '../../../home/read.ts';
import {makeRedactor} from '../../../policy/redact/redact.ts';
import {secretsOf} from '../../../policy/redact/secret-names.ts';

/** Redacted credentials of a message. */
export interface ReplacedSecret {
  what: string;
  count: number;
}

/** Redacts credentials, also values of this process's environment. */
export function redactMessage(home: string, content: string): {content: string; replaced: ReplacedSecret[]} {
  const counts = new Map<string, number>();
  const redactor = makeRedactor(secretsOf(keyVariables(home), process.env));
  const redacted = redactor.text(content, what => counts.set(what, (counts.get(what) ?? 0) + 1));
  return {content: redacted, replaced: [...counts].map(([what, count]) => ({what, count}))};
}

/** The variables that agentdir.yaml names, even where the file has errors. */
export function keyVariables(home: string): string[] {
  const read = readHomeFile(nodeDisk(home), 'agentdir.yaml');
  if (!read || !('text' in read)) return [];
  const named = read.text.matchAll(
    /\b(?:(?:api_key|secret|token|password)_env|api_env_var)["']?\s*:\s*(?:\[([^\]]*)\]|["']?(\w+))/g,
  );
  return [...named].flatMap(([, list, name]) => list?.match(/\w+/g) ?? name ?? []);
}
