import type {ResultCode, ToolContext, ToolFailure} from './tool.ts';

export function failure(code: ResultCode, error: string): ToolFailure {
  return {success: false, error, code};
}

export function isFailure(value: unknown): value is ToolFailure {
  return typeof value === 'object' && value !== null && 'success' in value && value.success === false;
}

const words: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or directory',
  ENOTDIR: 'a part of its path is not a directory',
  EISDIR: 'it is a directory',
  EEXIST: 'it exists already',
  EACCES: 'its permissions do not let the daemon do that',
  EPERM: 'the system does not permit that',
  ELOOP: 'it is a symbolic link, and links are not followed',
  ENAMETOOLONG: 'its name is too long',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EMFILE: 'the daemon has too many files open; try again',
  ENFILE: 'the machine has too many files open; try again',
  ESTALE: 'its folder was replaced while it was used; try again',
};

/** Describe a system error for `path`, which is a path as the model knows it. */
export function systemFailure(error: unknown, path: string): ToolFailure {
  const code = errorCode(error);
  if (code === undefined) throw error;
  return failure('FAILED', `${path}: ${words[code] ?? `the system says ${code}`}`);
}

export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** The call was stopped from outside: by its time limit, or because the daemon shuts down. */
export function stoppedFailure({signal}: ToolContext): ToolFailure {
  const {name, message} = signal.reason instanceof Error ? signal.reason : new Error('');
  if (name === 'TimeoutError') return failure('TIMEOUT', 'it took too long and was stopped');
  const why = name === 'AbortError' || message === '' ? '' : `: ${message}`;
  return failure('INTERRUPTED', `it was stopped before it was done${why}`);
}

/** Describe an unexpected error without revealing paths of this machine. */
export function unexpectedFailure(error: unknown, context: ToolContext): ToolFailure {
  const code = errorCode(error);
  if (code !== undefined && words[code]) return failure('FAILED', words[code]);
  const message = error instanceof Error ? error.message : String(error);
  return failure('FAILED', withoutPlaces(context.redact.text(message), context.home) || 'it failed');
}

/** Make paths in the home relative; shorten other paths to their last component. */
function withoutPlaces(message: string, home: string): string {
  return message
    .slice(0, 1000)
    .replaceAll(`${home}/`, '')
    .replaceAll(home, 'the home')
    .replace(/(?<![\w.:/])(?:\/[^\s/'",:;)]+)+\/([^\s/'",:;)]+)/g, '…/$1');
}
