import {describe, expect, it} from 'vitest';
import {filterFor} from '../../src/effects/sandbox/seccomp.ts';

const allowed = 0x7fff0000;
const refused = 0x00050001;
const unknown = 0x00050026;
const noFamily = 0x00050061;

/** What the kernel would answer: `args` are the low halves of the call's arguments. */
function judge(filter: Buffer, arch: number, number: number, args: readonly number[] = []): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(arch, 4);
  for (const [i, arg] of args.entries()) data.writeUInt32LE(arg, 16 + 8 * i);
  let loaded = 0;
  for (let at = 0; at < filter.length; at += 8) {
    const code = filter.readUInt16LE(at);
    const value = filter.readUInt32LE(at + 4);
    const jump = (yes: boolean) => {
      at += 8 * filter.readUInt8(at + (yes ? 2 : 3));
    };
    if (code === 0x06) return value;
    if (code === 0x20) loaded = data.readUInt32LE(value);
    else if (code === 0x15) jump(loaded === value);
    else if (code === 0x35) jump(loaded >= value);
    else if (code === 0x45) jump((loaded & value) !== 0);
    else throw new Error(`an instruction that is not known: ${code}`);
  }
  throw new Error('the filter ends without an answer');
}

describe.each([
  {
    arch: 'x64',
    audit: 0xc000003e,
    foreign: 0x40000003,
    openat: 257,
    fchmod: 91,
    ptrace: 101,
    clone: 56,
    read: 0,
    socket: 41,
    pair: 53,
  },
  {
    arch: 'arm64',
    audit: 0xc00000b7,
    foreign: undefined,
    openat: 56,
    fchmod: 52,
    ptrace: 117,
    clone: 220,
    read: 63,
    socket: 198,
    pair: 199,
  },
])('the filter for $arch', ({arch, audit, foreign, openat, fchmod, ptrace, clone, read, socket, pair}) => {
  const filter = filterFor(arch) as Buffer;
  const says = (number: number, args?: readonly number[]) => judge(filter, audit, number, args);

  it('refuses what reaches other processes, and hides what it cannot see into', () => {
    expect([says(ptrace), says(438), says(428)]).toEqual([refused, refused, refused]);
    for (const number of [425, 426, 427, 435, 437]) expect(says(number)).toBe(unknown);
    expect([says(read), says(9999)]).toEqual([allowed, allowed]);
  });

  it('refuses set-id modes where a file is made or changed, and only there', () => {
    for (const mode of [0o4755, 0o2755, 0o6000, 0o104711]) {
      expect(says(fchmod, [3, mode])).toBe(refused);
      expect(says(452, [0, 0, mode])).toBe(refused);
      for (const making of [0o100, 0o101102, 0o20200002]) expect(says(openat, [0, 0, making, mode])).toBe(refused);
      expect(says(openat, [0, 0, 0o1000002, mode])).toBe(allowed);
    }
    expect([says(fchmod, [0o4755, 0o1777]), says(openat, [0o6000, 0, 0o101, 0o1777])]).toEqual([allowed, allowed]);
  });

  it('refuses user namespaces, and nothing else of clone', () => {
    expect([says(clone, [0x10000011]), says(clone, [0x003d0f00])]).toEqual([refused, allowed]);
  });

  it('allows sockets of the machine and the internet, and no other family', () => {
    for (const family of [1, 2, 10, 16]) expect(says(socket, [family, 1])).toBe(allowed);
    for (const family of [0, 3, 9, 17, 21, 29, 31, 38, 40, 44, 99]) expect(says(socket, [family, 1])).toBe(noFamily);
    expect([says(pair, [1]), says(pair, [40])]).toEqual([allowed, noFamily]);
  });

  it('does not know calls made in the way of another machine', () => {
    expect(judge(filter, 0x40000003, read)).toBe(unknown);
    if (foreign !== undefined) expect(says(foreign)).toBe(unknown);
  });
});

it('there is none for a machine that is not known', () => {
  expect(filterFor('s390x')).toBeUndefined();
});
