import {closeSync, openSync, readdirSync, readSync} from 'node:fs';
import {resolve} from 'node:path';
import {findProgram, type ProgramSearch} from './find-program.ts';

/** Exit code and message of a shell for a file that cannot be started. */
export interface NotRunnable {
  code: 126 | 127;
  says: string;
}

const missing: NotRunnable = {code: 127, says: 'cannot execute: required file not found'};
const badFormat: NotRunnable = {code: 126, says: 'cannot execute binary file: Exec format error'};

/** The kernel's limit on interpreters that are scripts themselves. */
const mostScripts = 5;

/**
 * Why the kernel would not start this executable: its interpreter or loader is missing, or it is no program. Bubblewrap
 * and Node do not tell these apart from failures of their own. Undefined: nothing found; sh runs text without `#!`.
 */
export function notRunnable(path: string, where: ProgramSearch, depth = 0): NotRunnable | undefined {
  const begin = beginning(path);
  if (!begin || depth > mostScripts) return undefined;
  if (begin.toString('latin1', 0, 2) === '#!') {
    const name = /^#![ \t]*([^ \t\n\0]*)/.exec(begin.toString('utf8', 0, 256))?.[1] ?? '';
    return name === '' ? undefined : neededBy(name, where, depth);
  }
  if (begin.toString('latin1', 0, 4) === '\x7fELF') return notLoadable(begin, where);
  const line = begin.subarray(0, 80).toString('latin1').split('\n')[0] ?? '';
  return line.includes('\0') && !otherFormats() ? badFormat : undefined;
}

function neededBy(name: string, where: ProgramSearch, depth: number): NotRunnable | undefined {
  const found = findProgram(resolve(where.workspace, name), where);
  if (!found) return missing;
  if (found.notExecutable) return {code: 126, says: `${name}: bad interpreter: Permission denied`};
  return notRunnable(found.path, where, depth + 1);
}

const machines: Readonly<Partial<Record<string, number>>> = {x64: 62, arm64: 183};

/** Check the beginning of an ELF file: a complete header for this machine, and an existing loader. */
function notLoadable(elf: Buffer, where: ProgramSearch): NotRunnable | undefined {
  if (elf.length < 52) return badFormat;
  if (elf[4] !== 2 || elf[5] !== 1) return undefined; // not 64-bit little-endian: leave it to the kernel
  if (elf.length < 64 || ![2, 3].includes(elf.readUInt16LE(16))) return badFormat;
  if (elf.readUInt16LE(18) !== (machines[process.arch] ?? elf.readUInt16LE(18)))
    return otherFormats() ? undefined : badFormat;
  const table = Number(elf.readBigUInt64LE(32));
  const end = table + 56 * elf.readUInt16LE(56);
  if (end > elf.length) return elf.length < mostRead ? badFormat : undefined;
  for (let at = table; at < end; at += 56) {
    if (elf.readUInt32LE(at) !== 3) continue;
    const from = Number(elf.readBigUInt64LE(at + 8));
    const name = elf.toString('utf8', from, from + Number(elf.readBigUInt64LE(at + 32))).split('\0')[0];
    return name && !findProgram(resolve(where.workspace, name), where) ? missing : undefined;
  }
  return undefined;
}

const mostRead = 4096;

/** Undefined: the file is executable but not readable. */
function beginning(path: string): Buffer | undefined {
  try {
    const fd = openSync(path, 'r');
    try {
      const buffer = Buffer.alloc(mostRead);
      return buffer.subarray(0, readSync(fd, buffer, 0, mostRead, 0));
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

/** Whether the kernel runs other binary formats here (binfmt_misc). */
function otherFormats(): boolean {
  try {
    return readdirSync('/proc/sys/fs/binfmt_misc').some(name => name !== 'register' && name !== 'status');
  } catch {
    return false;
  }
}
