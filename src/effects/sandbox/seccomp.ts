import {openSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {scratchFolder} from './scratch.ts';

/**
 * Seccomp filter (seccomp(2), BPF) for confined programs. It refuses system calls that reach other processes, above all
 * process 1 inside; key management; kernel features that programs do not need; and anything that sets a set-id bit,
 * which would give everybody on the machine the daemon's rights. Of sockets it allows only the common families: others
 * reach the virtual machine's host (AF_VSOCK), or parts of the kernel that programs do not need.
 */
interface Machine {
  /** AUDIT_ARCH value of native calls. */
  arch: number;
  numbers: Readonly<Record<string, number>>;
  /** Numbers from here on belong to another ABI: x32. */
  foreignFrom?: number;
}

/** Numbers shared by all architectures since Linux 5.1. */
const everywhere = {
  ...{io_uring_setup: 425, io_uring_enter: 426, io_uring_register: 427, open_tree: 428, move_mount: 429, fsopen: 430},
  ...{fsconfig: 431, fsmount: 432, fspick: 433, clone3: 435, openat2: 437, pidfd_getfd: 438, mount_setattr: 442},
  ...{fchmodat2: 452, open_tree_attr: 467},
};

const machines: Readonly<Partial<Record<string, Machine>>> = {
  x64: {
    arch: 0xc000003e,
    foreignFrom: 0x40000000,
    numbers: {
      ...everywhere,
      ...{ptrace: 101, process_vm_readv: 310, process_vm_writev: 311, keyctl: 250, add_key: 248, request_key: 249},
      ...{bpf: 321, perf_event_open: 298, userfaultfd: 323, kexec_load: 246, kexec_file_load: 320, init_module: 175},
      ...{finit_module: 313, delete_module: 176, mount: 165, umount2: 166, pivot_root: 155, setns: 308},
      ...{open_by_handle_at: 304, chmod: 90, fchmod: 91, fchmodat: 268, creat: 85, mknod: 133, mknodat: 259},
      ...{open: 2, openat: 257, clone: 56, unshare: 272, socket: 41, socketpair: 53},
    },
  },
  arm64: {
    arch: 0xc00000b7,
    numbers: {
      ...everywhere,
      ...{ptrace: 117, process_vm_readv: 270, process_vm_writev: 271, keyctl: 219, add_key: 217, request_key: 218},
      ...{bpf: 280, perf_event_open: 241, userfaultfd: 282, kexec_load: 104, kexec_file_load: 294, init_module: 105},
      ...{finit_module: 273, delete_module: 106, mount: 40, umount2: 39, pivot_root: 41, setns: 268},
      ...{open_by_handle_at: 265, fchmod: 52, fchmodat: 53, mknodat: 33, openat: 56, clone: 220, unshare: 97},
      ...{socket: 198, socketpair: 199},
    },
  },
};

/** Answered with ENOSYS, so that programs fall back to older calls: a filter cannot see the arguments of these. */
const absent = ['io_uring_setup', 'io_uring_enter', 'io_uring_register', 'openat2', 'clone3'];

const refused = [
  ...['ptrace', 'process_vm_readv', 'process_vm_writev', 'pidfd_getfd', 'keyctl', 'add_key', 'request_key', 'bpf'],
  ...['perf_event_open', 'userfaultfd', 'kexec_load', 'kexec_file_load', 'init_module', 'finit_module'],
  ...['delete_module', 'mount', 'umount2', 'pivot_root', 'setns', 'open_by_handle_at', 'open_tree', 'open_tree_attr'],
  ...['move_mount', 'fsopen', 'fsconfig', 'fsmount', 'fspick', 'mount_setattr'],
];

type Bits = readonly [argument: number, bits: number];

const setId = 0o6000;
const makesFile = 0o100 | 0o20000000; // O_CREAT, O_TMPFILE: without them the mode is ignored
const userNamespace = 0x10000000;

/** Refused if each listed argument has one of the listed bits set. */
const refusedWith: Readonly<Record<string, readonly Bits[]>> = {
  chmod: [[1, setId]],
  fchmod: [[1, setId]],
  fchmodat: [[2, setId]],
  fchmodat2: [[2, setId]],
  creat: [[1, setId]],
  mknod: [[1, setId]],
  mknodat: [[2, setId]],
  open: [
    [1, makesFile],
    [2, setId],
  ],
  openat: [
    [2, makesFile],
    [3, setId],
  ],
  clone: [[0, userNamespace]],
  unshare: [[0, userNamespace]],
};

/** The first argument must be one of these. */
const allowedWith: Readonly<Record<string, readonly number[]>> = {
  socket: [1, 2, 10, 16], // AF_UNIX, AF_INET, AF_INET6, AF_NETLINK
  socketpair: [1],
};

const load = 0x20;
const ifEqual = 0x15;
const ifAtLeast = 0x35;
const ifAnyBit = 0x45;
const answer = 0x06;
const allow = 0x7fff0000;
const notPermitted = 0x00050000 | 1; // EPERM
const notKnown = 0x00050000 | 38; // ENOSYS
const noSuchFamily = 0x00050000 | 97; // EAFNOSUPPORT

/** A BPF instruction; `yes` and `no` are numbers of instructions to skip. */
type Step = readonly [code: number, yes: number, no: number, value: number];

/** Undefined: unknown architecture; its programs run without a filter. */
export function filterFor(arch: string): Buffer | undefined {
  const machine = machines[arch];
  if (!machine) return undefined;
  const {numbers, foreignFrom} = machine;
  const when = (name: string, then: readonly Step[]): Step[] => {
    const number = numbers[name];
    return number === undefined ? [] : [[ifEqual, 0, then.length, number], ...then];
  };
  const steps: Step[] = [
    [load, 0, 0, 4],
    [ifEqual, 1, 0, machine.arch],
    [answer, 0, 0, notKnown],
    [load, 0, 0, 0],
    ...(foreignFrom === undefined
      ? []
      : ([
          [ifAtLeast, 0, 1, foreignFrom],
          [answer, 0, 0, notKnown],
        ] as Step[])),
    ...absent.flatMap(name => when(name, [[answer, 0, 0, notKnown]])),
    ...refused.flatMap(name => when(name, [[answer, 0, 0, notPermitted]])),
    ...Object.entries(refusedWith).flatMap(([name, bits]) => when(name, ifAll(bits))),
    ...Object.entries(allowedWith).flatMap(([name, values]) => when(name, ifOneOf(values))),
    [answer, 0, 0, allow],
  ];
  const program = Buffer.alloc(8 * steps.length);
  for (const [i, [code, yes, no, value]] of steps.entries()) {
    program.writeUInt16LE(code, 8 * i);
    program.writeUInt8(yes, 8 * i + 2);
    program.writeUInt8(no, 8 * i + 3);
    program.writeUInt32LE(value, 8 * i + 4);
  }
  return program;
}

function ifAll(bits: readonly Bits[]): Step[] {
  const steps = bits.flatMap(([argument, some], i): Step[] => [
    [load, 0, 0, 16 + 8 * argument],
    [ifAnyBit, 0, 2 * (bits.length - i) - 1, some],
  ]);
  return [...steps, [answer, 0, 0, notPermitted], [answer, 0, 0, allow]];
}

function ifOneOf(values: readonly number[]): Step[] {
  const steps = values.map((value, i): Step => [ifEqual, values.length - i, 0, value]);
  return [[load, 0, 0, 16], ...steps, [answer, 0, 0, noSuchFamily], [answer, 0, 0, allow]];
}

let kept: number | undefined;

export const hasFilter = process.arch in machines;

/** Open this machine's filter for reading; the caller closes it. Undefined: there is none. */
export function openFilter(): number | undefined {
  if (kept === undefined) {
    const filter = filterFor(process.arch);
    if (!filter) return undefined;
    kept = keep(filter);
  }
  // Open the file again: each reader needs its own file offset.
  return openSync(`/proc/self/fd/${kept}`, 'r');
}

/** Write the filter to an unlinked file. */
function keep(filter: Buffer): number {
  const folder = scratchFolder(tmpdir(), 'filter');
  try {
    const path = join(folder, 'filter');
    writeFileSync(path, filter, {mode: 0o400});
    return openSync(path, 'r');
  } finally {
    rmSync(folder, {recursive: true, force: true});
  }
}
