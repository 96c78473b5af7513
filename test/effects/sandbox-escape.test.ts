import {spawnSync} from 'node:child_process';
import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {createServer} from 'node:net';
import {tmpdir, userInfo} from 'node:os';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {describe, expect, it, onTestFinished} from 'vitest';
import {root} from '../cli/run.ts';
import {noBubblewrap, type Said, type SandboxHome, sandboxHome, say, sh} from './sandbox-home.ts';

const python = (script: string) => `python3 -c '${script}'`;

/** What is tried inside, and what it must come to; `$HOME_OUTSIDE` is the agents' home, `$USER_HOME` the user's. */
const attempts: Record<string, {script: string; stdout: string}> = {
  'the home has nothing but the workspace': {
    script: 'find $HOME_OUTSIDE -mindepth 1 | sort',
    stdout: '$HOME_OUTSIDE/workspaces\n$HOME_OUTSIDE/workspaces/ada\n',
  },
  'the policy cannot be read': {script: 'cat $HOME_OUTSIDE/allowlist.yaml || echo no', stdout: 'no\n'},
  "another's workspace cannot be read": {script: 'cat ../bob/file || echo no', stdout: 'no\n'},
  "the home's git cannot be read": {script: 'cat ../../.git/config || echo no', stdout: 'no\n'},
  "the user's files are not there": {
    script: 'ls -A $USER_HOME /home /root /srv /opt /mnt /var /sys; find /run -mindepth 3; find /run ! -type d',
    stdout: '',
  },
  'no passwords': {script: 'cat /etc/shadow /etc/gshadow /etc/sudoers /etc/ssh/* /etc/ssl/private/*', stdout: ''},
  'the system cannot be written': {
    script:
      'for d in /usr /usr/bin /usr/local/bin /etc /etc/ssl / /bin /lib /proc /dev; do (: > $d/x) && echo $d; done',
    stdout: '',
  },
  'nor made writable': {
    script: 'mount -o remount,rw /usr; mount -o remount,rw,bind /usr; mount -o remount,rw /; (: > /usr/x) && echo out',
    stdout: '',
  },
  'nor covered': {script: 'mount -t tmpfs x /usr && echo out; mount --bind . /usr && echo out', stdout: ''},
  'no capabilities': {script: 'grep ^Cap /proc/self/status | grep -v 0000000000000000', stdout: ''},
  'no privileges by setuid programs': {script: 'grep NoNewPrivs /proc/self/status', stdout: 'NoNewPrivs:\t1\n'},
  'no user namespaces of its own': {script: 'unshare -U true && echo out; unshare -Urm true && echo out', stdout: ''},
  'no other namespaces': {script: 'for n in m p n u i C; do unshare -$n true && echo $n; done', stdout: ''},
  'no chroot': {script: 'mkdir r; chroot r true && echo out', stdout: ''},
  'no devices': {
    script: 'mknod null c 1 3 && echo out; mknod disk b 8 0 && echo out; ls /dev/kmsg /dev/mem /dev/kvm',
    stdout: '',
  },
  'the usual devices can be used': {
    script:
      'echo x > /dev/null && head -c 2 /dev/zero | od -An -tx1 && head -c 1 /dev/urandom | wc -c; (echo x > /dev/full) || echo full',
    stdout: ' 00 00\n1\nfull\n',
  },
  'no file for everybody to run as its owner': {
    script: `umask 0; : > a; chmod 4755 a; chmod g+s a; mkdir d; chmod 2755 d; chmod 1755 a; install -m 6755 /bin/true b
      ${python(
        [
          'import os',
          'def refused(make):',
          ' try: make()',
          ' except PermissionError: return 1',
          'make = os.O_CREAT | os.O_WRONLY',
          'print(*map(refused, [',
          ' lambda: os.open("c", make, 0o4755), lambda: os.open("d", make, 0o2755), lambda: os.mknod("e", 0o104755),',
          ' lambda: os.open(".", os.O_TMPFILE | os.O_RDWR, 0o4755), lambda: os.fchmod(os.open("a", 0), 0o6755),',
          ' lambda: os.open("a", os.O_RDONLY, 0o6755), lambda: os.open("f", make, 0o1755)]))',
        ].join('\n'),
      )}
      find . -perm /6000; stat -c %a a f`,
    stdout: '1 1 1 1 1 None None\n1755\n1755\n',
  },
  'the first process cannot be reached': {
    script: `ls -A /proc/1; for f in mem task/1/mem environ x; do (exec 3<> /proc/1/$f) && echo $f; done; chmod 777 /proc/1 && echo out`,
    stdout: '',
  },
  'nor another, nor keys, nor odd parts of the kernel': {
    script: python(
      [
        'import ctypes',
        'libc = ctypes.CDLL(None, use_errno=True)',
        'print(libc.ptrace(16, 1, 0, 0), ctypes.get_errno())',
        'for number in [250, 321, 425, 437] if __import__("platform").machine() == "x86_64" else [219, 280, 425, 437]:',
        ' print(libc.syscall(number, 0, 0, 0, 0, 0), ctypes.get_errno())',
      ].join('\n'),
    ),
    stdout: '-1 1\n-1 1\n-1 1\n-1 38\n-1 38\n',
  },
  'settings of the kernel cannot be written': {
    script: 'find /proc/sys -type f -writable 2>/dev/null | head',
    stdout: '',
  },
  'nor anything else in /proc that is not its own': {
    script: `find /proc -path '/proc/[0-9]*' -prune -o -path /proc/pressure -prune -o -type f -writable -print 2>/dev/null`,
    stdout: '',
  },
  'the kernel cannot be read': {
    script: 'for f in kcore kmsg sysrq-trigger; do (head -c 1 /proc/$f) >/dev/null && echo $f; done',
    stdout: '',
  },
  'a clean environment, also of the first process': {
    script: `cat /proc/*/environ | tr '\\0' '\\n' | grep -E 'API_KEY|NODE|npm_|VITEST|LD_|SSH_'`,
    stdout: '',
  },
  'no processes but its own': {
    script: 'cat /proc/[0-9]*/comm | grep -v -x -e bwrap -e cat -e sh -e grep',
    stdout: '',
  },
  'nobody outside can be signalled': {script: 'kill -0 $OUTSIDE_PID && echo out; kill -9 -1; echo x', stdout: 'x\n'},
  'no network but lo': {script: 'grep -v "^ *lo:" /proc/net/dev | grep -c "[0-9]:"', stdout: '0\n'},
  'its own System V memory': {script: 'ipcs -m | grep -c 0x', stdout: '0\n'},
  'no terminal to type into': {script: 'exec 3<>/dev/tty && echo out', stdout: ''},
  'its own host name, which it cannot change': {script: 'hostname x; hostname', stdout: 'sandbox\n'},
  'scratch space is bounded': {
    script: 'df -B1 --output=size /tmp /dev/shm | tail -2 | tr -d " "; (: > /tmp/x) && (: > /dev/shm/x) && echo ok',
    stdout: '536870912\n67108864\nok\n',
  },
  'home and temporary files are private': {
    script: 'cd && pwd && : > x && echo $TMPDIR && mktemp | cut -c1-5',
    stdout: '/tmp/home\n/tmp\n/tmp/\n',
  },
};

describe.skipIf(noBubblewrap)(`escapes from the sandbox ${noBubblewrap ?? ''}`, () => {
  it.each(Object.entries(attempts))('%s', async (_, {script, stdout}) => {
    const place = sandboxHome();
    const names: Record<string, string> = {
      HOME_OUTSIDE: place.home,
      USER_HOME: userInfo().homedir,
      OUTSIDE_PID: String(process.pid),
    };
    const known = (text: string) =>
      text.replace(/\$(HOME_OUTSIDE|USER_HOME|OUTSIDE_PID)/g, (_all, name: string) => names[name] ?? '');
    const said = await sh(place, known(script));
    expect(said).toMatchObject({how: 'ended', stdout: known(stdout)});
  });

  it('links that lead out of the workspace lead nowhere', async () => {
    const place = sandboxHome();
    symlinkSync(join(place.home, 'allowlist.yaml'), join(place.workspace, 'file'));
    symlinkSync(place.home, join(place.workspace, 'folder'));
    const said = await sh(place, 'cat file; cat folder/allowlist.yaml; ls folder/workspaces');
    expect(said.stdout).toBe('ada\n');
    await sh(place, 'echo x > file; echo x > folder/new; echo x > folder/allowlist.yaml');
    expect(readFileSync(join(place.home, 'allowlist.yaml'), 'utf8')).toBe('secret policy\n');
    expect(existsSync(join(place.home, 'new'))).toBe(false);
  });

  it('no hard link to what is outside can be made', async () => {
    const place = sandboxHome();
    const said = await sh(place, 'ln /etc/passwd mine || ln /usr/bin/env mine || echo no');
    expect(said.stdout).toBe('no\n');
  });

  it('a read-only workspace cannot be written, not even by what it links to', async () => {
    const place = sandboxHome();
    writeFileSync(join(place.workspace, 'file'), 'old');
    linkSync(join(place.workspace, 'file'), join(place.workspace, 'other'));
    const said = await sh(
      place,
      '(: > new); echo x > file; echo x > other; rm -f file; mount -o remount,rw . ; : > new',
      {
        readOnly: true,
      },
    );
    expect(said.exitCode).not.toBe(0);
    expect(readFileSync(join(place.workspace, 'file'), 'utf8')).toBe('old');
    expect(existsSync(join(place.workspace, 'new'))).toBe(false);
  });

  it('a server on this machine is reached only with network', async () => {
    const place = sandboxHome();
    const server = createServer(socket => socket.end('hello')).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise(resolve => server.once('listening', resolve));
    const {port} = server.address() as {port: number};
    const connect = python(`import socket; print(socket.create_connection(("127.0.0.1", ${port})).recv(9).decode())`);
    expect((await sh(place, connect)).stdout).toBe('');
    expect((await sh(place, connect, {network: true})).stdout).toBe('hello\n');
  });

  it('an abstract socket of this machine is not reached', async () => {
    const place = sandboxHome();
    const name = `agentdir-test-${process.pid}`;
    const server = createServer(socket => socket.end('hello')).listen(`\0${name}`);
    onTestFinished(() => void server.close());
    await new Promise(resolve => server.once('listening', resolve));
    const connect = python(`import socket; s = socket.socket(socket.AF_UNIX); s.connect("\\0${name}"); print("out")`);
    expect(await sh(place, connect)).toMatchObject({exitCode: 1, stdout: ''});
  });

  it('a process outside is not in its namespaces', async () => {
    const place = sandboxHome();
    const names = ['pid', 'net', 'mnt', 'ipc', 'uts', 'user', 'cgroup'];
    const inside = (await say(place, ['readlink', ...names.map(name => `/proc/self/ns/${name}`)])).stdout.split('\n');
    for (const [i, name] of names.entries()) expect(inside[i]).not.toBe(readlinkSync(`/proc/self/ns/${name}`));
    expect(inside.filter(Boolean)).toHaveLength(names.length);
  });

  it('what it does to its devices and its input does not reach those of the machine', async () => {
    const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty'].map(name => `/dev/${name}`);
    const changed = () => devices.map(path => statSync(path).ctimeMs);
    const before = changed();
    const change = `chmod 666 ${devices.join(' ')}; ${python('import os; os.fchmod(0, 0o666)')}`;
    expect(await sh(sandboxHome(), change)).toMatchObject({how: 'ended'});
    expect(changed()).toEqual(before);
  });

  it('a folder that somebody left open in the daemon is no way out', () => {
    const place = sandboxHome();
    const module = pathToFileURL(join(root, 'dist/effects/sandbox/run.js')).href;
    const script = `
      const {runPrograms} = await import(${JSON.stringify(module)});
      const argv = ['sh', '-c', 'ls /proc/self/fd/20/; cat /proc/self/fd/20/allowlist.yaml'];
      await runPrograms({
        ...${JSON.stringify(place)}, programs: [{argv, operator: '', confined: true, network: false}], readOnly: false,
        mark: 'm', timeoutMs: 20000, mostOutput: 1e6, signal: new AbortController().signal,
        onOutput: (stream, chunk) => process[stream].write(chunk),
      });
    `;
    const folder = openSync(place.home, 'r');
    onTestFinished(() => closeSync(folder));
    const stdio = [...(['ignore', 'pipe', 'pipe'] as const), ...new Array<'ignore'>(17).fill('ignore'), folder];
    const said = spawnSync(process.execPath, ['--input-type=module', '-e', script], {stdio, encoding: 'utf8'});
    expect(said.stdout).toBe('');
    expect(said.stderr).toContain('Not a directory');
  });

  it('reads the history of its workspace, and cannot write it', async () => {
    const place = sandboxHome();
    for (const agent of ['ada', 'bob']) {
      mkdirSync(join(place.home, '.workspaces', `${agent}.git`), {recursive: true});
      writeFileSync(join(place.home, '.workspaces', `${agent}.git`, 'HEAD'), 'ref: refs/heads/main\n');
    }
    const said = await sh(place, 'cd ../../.workspaces; ls; cat ada.git/HEAD; (: > ada.git/HEAD) || echo no');
    expect(said.stdout).toBe('ada.git\nref: refs/heads/main\nno\n');
  });

  describe('wherever the home is', () => {
    const sees = 'cat ../../allowlist.yaml ../bob/file; find ../.. -mindepth 1 | sort; : > made; pwd';
    const only = (place: SandboxHome, said: Said) => {
      expect(said).toMatchObject({how: 'ended', exitCode: 0});
      expect(said.stdout).toBe(`../../workspaces\n../../workspaces/ada\n${place.workspace}\n`);
      expect(existsSync(join(place.workspace, 'made'))).toBe(true);
    };

    it('in a folder with spaces, quotes, a new line and other letters', async () => {
      const parent = mkdtempSync(join(tmpdir(), `agentdir $x 'q" \\ \n ü-`));
      onTestFinished(() => rmSync(parent, {recursive: true, force: true}));
      const place = sandboxHome(parent);
      only(place, await sh(place, sees.replace('pwd', `printf '%s\\n' "$PWD"`)));
    });

    it.skipIf(process.getuid?.() !== 0).each(['/usr/local', '/root', '/var', '/etc', '/dev/shm'])(
      'in %s',
      async parent => {
        if (!existsSync(parent)) return;
        const place = sandboxHome(parent);
        only(place, await sh(place, sees));
      },
    );

    it('behind a link', async () => {
      const place = sandboxHome();
      const link = join(tmpdir(), `agentdir-link-${process.pid}`);
      symlinkSync(place.home, link);
      onTestFinished(() => rmSync(link));
      only(place, await sh({home: link, workspace: join(link, 'workspaces/ada')}, sees));
    });
  });

  it.each([
    ['is a link', (place: SandboxHome) => symlinkSync('bob', join(place.home, 'workspaces/eve'))],
    ['is a link out of the home', (place: SandboxHome) => symlinkSync('/usr', join(place.home, 'workspaces/eve'))],
    ['is a file', (place: SandboxHome) => writeFileSync(join(place.home, 'workspaces/eve'), '')],
    ['is not there', () => {}],
  ])('a workspace that %s is refused', async (_, make) => {
    const place = sandboxHome();
    make(place);
    for (const confined of [true, false]) {
      const said = await say({...place, workspace: join(place.home, 'workspaces/eve')}, ['true'], {confined});
      expect(said).toMatchObject({how: 'failed', exitCode: null});
      expect(said.error).toMatch(/link|leads out|not a folder|no workspace/);
    }
  });

  it('the home itself, and what is above it, are no workspaces', async () => {
    const place = sandboxHome();
    for (const workspace of [place.home, join(place.home, '..'), '/'])
      expect(await say({...place, workspace}, ['true'])).toMatchObject({how: 'failed'});
  });
});
