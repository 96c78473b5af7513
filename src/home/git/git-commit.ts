import type {Person} from './git-config.ts';

export interface CommitParts {
  tree: string;
  parent: string | undefined;
  author: Person;
  committer: Person;
  /** Milliseconds since 1970. */
  time: number;
  subject: string;
  trailers: readonly (readonly [string, string])[];
}

export function commitBody({tree, parent, author, committer, time, subject, trailers}: CommitParts): Buffer {
  const when = stampOf(time);
  const lines = [`tree ${tree}`, ...(parent ? [`parent ${parent}`] : [])];
  lines.push(`author ${personText(author)} ${when}`, `committer ${personText(committer)} ${when}`, '');
  lines.push(messageOf(subject, trailers));
  return Buffer.from(`${lines.join('\n')}\n`, 'utf8');
}

export function messageOf(subject: string, trailers: readonly (readonly [string, string])[]): string {
  const block = trailers.map(([key, value]) => `${key.replace(/[^A-Za-z0-9-]/g, '-')}: ${oneLine(value)}`);
  return [oneLine(subject) || 'change', ...(block.length > 0 ? ['', ...block] : [])].join('\n');
}

export function personText({name, email}: Person): string {
  return `${cleanMessage(name) || 'agentdir'} <${cleanMessage(email)}>`;
}

/** A timestamp as in git: seconds and the offset from UTC at that time. */
export function stampOf(time: number): string {
  const minutes = -new Date(time).getTimezoneOffset();
  const size = Math.abs(minutes);
  const zone = `${Math.floor(size / 60)}`.padStart(2, '0') + `${size % 60}`.padStart(2, '0');
  return `${Math.max(0, Math.floor(time / 1000))} ${minutes < 0 ? '-' : '+'}${zone}`;
}

/** Remove the characters that git strips from names and addresses, because they could end the field. */
export function cleanMessage(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
  return text.replace(/[<>\n\0]/g, '').replace(/^[\x00-\x20.,:;"\\']+|[\x00-\x20.,:;"\\']+$/g, '');
}

function oneLine(text: string): string {
  // Git rejects a NUL in a commit.
  return text
    .replace(/\0/g, '')
    .replace(/\s*[\r\n]\s*/g, ' ')
    .trim();
}
