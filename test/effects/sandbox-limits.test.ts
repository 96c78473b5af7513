import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it, test, vi} from 'vitest';
import * as groups from '../../src/effects/sandbox/control-groups.ts';
import {commandLimits, leastSpace} from '../../src/effects/sandbox/limits.ts';
import {noBubblewrap, sandboxHome, say, sh} from './sandbox-home.ts';

const controls = groups.groupControls();
const without = (controller: groups.Controller) =>
  noBubblewrap ?? (controls.has(controller) ? undefined : 'this machine lets us make no control groups');

const eats = "python3 -c 'x=[bytearray(1<<20) for _ in range(400)]; print(len(x))'";

describe.skipIf(noBubblewrap)(`limits of the sandbox ${noBubblewrap ?? ''}`, () => {
  it('memory is limited for each process of a command that only reads', async () => {
    const place = sandboxHome();
    const limits = commandLimits({memory_mb: 200});
    expect(await sh(place, `${eats} 2>&1 | tail -n1`, {limits, readOnly: true})).toMatchObject({
      how: 'ended',
      stdout: 'MemoryError\n',
    });
    expect(await sh(place, eats)).toMatchObject({how: 'ended', exitCode: 0, stdout: '400\n'});
  });

  it.skipIf(without('memory'))('memory is limited for all processes together', async () => {
    const place = sandboxHome();
    const limits = commandLimits({memory_mb: 300});
    const three = 'for i in 1 2 3; do python3 -c \'x=b"x"*(150<<20); import time; time.sleep(2)\' & done; wait';
    const ran = await sh(place, three, {limits});
    expect(ran.exceeded?.join()).toMatch(/more than 300 MB of memory \(limits\.commands\.memory_mb\)/);
  });

  it.skipIf(without('pids'))('a fork bomb ends, and the machine goes on', async () => {
    const place = sandboxHome();
    const limits = commandLimits({processes: 40});
    const bomb = 'f() { f | f & }; f; sleep 1; ls /proc | grep -c "^[0-9]"';
    const ran = await sh(place, bomb, {limits, timeoutMs: 4_000});
    expect(ran.exceeded).toEqual(['it wanted more than 40 processes (limits.commands.processes)']);
    expect((await say(place, ['true'])).exitCode).toBe(0);
  });

  it('a file has at most as many bytes as the command may write', async () => {
    const place = sandboxHome();
    const limits = commandLimits({disk_mb: 2});
    const ran = await sh(place, 'dd if=/dev/zero of=big bs=1M count=3 status=none; stat -c %s big', {limits});
    expect(ran.stdout).toBe(`${2 << 20}\n`);
  });

  it('many files that fill the disk end the command', async () => {
    const place = sandboxHome();
    const limits = commandLimits({disk_mb: 64});
    const endless = 'i=0; while :; do i=$((i+1)); head -c 8000000 /dev/urandom > file$i; done';
    const ran = await sh(place, endless, {limits});
    expect(ran.how).toBe('disk');
    expect(readdirSync(place.workspace).length).toBeLessThan(1000);
  });

  it('threads and child processes work although clone3 is hidden', async () => {
    const script =
      'import threading, subprocess; t=threading.Thread(target=lambda: print("thread")); t.start(); t.join(); subprocess.run(["echo", "child"])';
    expect((await say(sandboxHome(), ['python3', '-uc', script])).stdout).toBe('thread\nchild\n');
  });

  it.each([
    ['VSOCK', 40],
    ['ALG', 38],
    ['PACKET', 17],
    ['BLUETOOTH', 31],
  ])('no socket of the family AF_%s', async (_, family) => {
    const script = `import socket\ntry: socket.socket(${family}, socket.SOCK_STREAM); print("made")\nexcept OSError as e: print(e.errno)`;
    const ran = await say(sandboxHome(), ['python3', '-c', script], {network: true});
    expect(ran.stdout).toBe('97\n');
  });

  it('leaves no control groups behind', async () => {
    await say(sandboxHome(), ['echo', 'a', '|', 'cat', ';', 'sh', '-c', 'sleep 100 & exit 3']);
    const places = groups.findPlaces(
      readFileSync('/proc/self/cgroup', 'utf8'),
      readFileSync('/proc/self/mountinfo', 'utf8'),
    );
    const own = new RegExp(`^agentdir-group-${process.pid}-`);
    // Other tests of this process may be running.
    await vi.waitFor(
      () => expect(places.flatMap(({folder}) => readdirSync(folder)).filter(name => own.test(name))).toEqual([]),
      {timeout: 30_000},
    );
  });
});

test('a command leaves bytes and files to others, on file systems that tell how many there are', () => {
  const limits = commandLimits({disk_mb: 1});
  const space = {bavail: 1024, bsize: 4096, blocks: 9999, ffree: 5_000_000, files: 6_000_000};
  expect(leastSpace(space, limits)).toEqual({bytes: 3 << 20, files: 4_000_000});
  expect(leastSpace({...space, bavail: 100, ffree: 1000}, limits)).toEqual({bytes: 40_960, files: 100});
  expect(leastSpace({...space, blocks: 0, files: 0}, limits)).toEqual({bytes: 0, files: 0});
});

describe('where control groups can be made', () => {
  const v1 = [
    '32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu',
    '33 31 0:30 /docker/1 /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory',
    '34 31 0:31 / /sys/fs/cgroup/pids rw,relatime shared:3 - cgroup cgroup rw,pids',
  ].join('\n');

  it('version 1: one for each controller, below that of the process', () => {
    expect(groups.findPlaces('5:pids:/user/x\n4:memory:/docker/1/y\n1:cpu:/\n0::/\n', v1)).toEqual([
      {folder: '/sys/fs/cgroup/memory/y', version: 1, controls: ['memory']},
      {folder: '/sys/fs/cgroup/pids/user/x', version: 1, controls: ['pids']},
    ]);
  });

  it('version 2: the nearest one above that passes controllers on', async () => {
    const {mkdirSync, writeFileSync} = await import('node:fs');
    const {home} = sandboxHome();
    mkdirSync(join(home, 'user/app/scope'), {recursive: true});
    writeFileSync(join(home, 'user/cgroup.subtree_control'), 'cpu memory pids\n');
    writeFileSync(join(home, 'user/app/cgroup.subtree_control'), 'memory pids\n');
    writeFileSync(join(home, 'user/app/scope/cgroup.subtree_control'), '\n');
    const mounts = `25 20 0:22 / ${home} rw,nosuid - cgroup2 cgroup2 rw,nsdelegate`;
    expect(groups.findPlaces('0::/user/app/scope\n', mounts)).toEqual([
      {folder: join(home, 'user/app'), version: 2, controls: ['memory', 'pids']},
    ]);
    expect(groups.findPlaces('0::/elsewhere\n', mounts)).toEqual([]);
  });

  it('nowhere, if nothing is mounted', () => {
    expect(groups.findPlaces('0::/\n', readFileSync('/dev/null', 'utf8'))).toEqual([]);
  });
});
