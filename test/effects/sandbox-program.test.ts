import {spawnSync} from 'node:child_process';
import {chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {findProgram, programFolders} from '../../src/effects/sandbox/find-program.ts';
import type {RunRequest} from '../../src/effects/sandbox/request.ts';
import {planStart} from '../../src/effects/sandbox/start.ts';
import {noBubblewrap, sandboxHome, say} from './sandbox-home.ts';

function script(path: string, mode = 0o755): string {
  writeFileSync(path, '#!/bin/sh\necho mine\n');
  chmodSync(path, mode);
  return path;
}

describe('findProgram', () => {
  it.each([true, false])('finds programs of the system, confined: %s', confined => {
    const found = findProgram('sh', {...sandboxHome(), confined});
    expect(found).toMatchObject({unsafe: false, notExecutable: false});
    expect(found?.path).toMatch(/^\/(usr\/)?bin\//);
    expect(findProgram('no-such-program', {...sandboxHome(), confined})).toBeUndefined();
    expect(findProgram('', {...sandboxHome(), confined})).toBeUndefined();
  });

  it("never finds a bare name in the workspace, also not one of the system's", () => {
    const place = {...sandboxHome(), confined: false};
    script(join(place.workspace, 'mine'));
    script(join(place.workspace, 'ls'));
    expect(findProgram('mine', place)).toBeUndefined();
    expect(findProgram('ls', place)?.path).not.toContain(place.workspace);
  });

  it('a name with a slash is relative to the workspace, and unsafe there', () => {
    const place = {...sandboxHome(), confined: true};
    const mine = script(join(place.workspace, 'mine'));
    expect(findProgram('./mine', place)).toEqual({place: mine, path: mine, unsafe: true, notExecutable: false});
    expect(findProgram('../ada/mine', place)?.path).toBe(mine);
    script(join(place.workspace, 'plain'), 0o644);
    expect(findProgram('./plain', place)).toMatchObject({notExecutable: true});
    expect(findProgram('./', place)).toMatchObject({notExecutable: true});
  });

  it('what lies in the home or below a folder of everybody is unsafe, wherever a link to it is', () => {
    const place = {...sandboxHome(), confined: false};
    const inHome = script(join(place.home, 'tool'));
    expect(findProgram(inHome, place)).toMatchObject({unsafe: true});
    symlinkSync(inHome, join(place.workspace, 'link'));
    expect(findProgram('./link', place)).toMatchObject({path: inHome, unsafe: true});
    const open = sandboxHome();
    mkdirSync(join(open.home, 'open'));
    chmodSync(join(open.home, 'open'), 0o777);
    expect(findProgram(script(join(open.home, 'open/tool')), place)).toMatchObject({unsafe: true});
    expect(findProgram('/bin/sh', place)).toMatchObject({unsafe: false});
  });

  it.each([true, false])('what a person approved finds programs where we do, confined: %s', async confined => {
    const place = sandboxHome();
    const request = {...place, mark: 'm'} as RunRequest;
    const program = {argv: ['sh', '-c', 'x'], operator: '' as const, confined, network: false};
    const prepared = await planStart(program, request, {});
    if (confined && 'error' in prepared) return;
    const folders = programFolders({...place, confined});
    expect('env' in prepared && prepared.env.PATH).toBe(folders.join(':'));
    const own = (process.env.PATH ?? '').split(':').filter(folder => !folders.includes(folder));
    // Of the daemon's own there is on the host what only root or its user may write.
    if (!confined)
      expect(own.filter(folder => existsSync(folder) && (statSync(folder).mode & 0o022) === 0)).toEqual([]);
  });

  it('in the sandbox there is only what can be seen there', () => {
    const place = {...sandboxHome(), confined: true};
    expect(findProgram(script(join(place.home, 'tool')), place)).toBeUndefined();
    symlinkSync(join(place.home, 'tool'), join(place.workspace, 'link'));
    expect(findProgram('./link', place)).toBeUndefined();
  });

  it.each([true, false])('a script of the workspace runs, confined: %s', async confined => {
    if (confined && noBubblewrap) return;
    const place = sandboxHome();
    script(join(place.workspace, 'mine'));
    expect(await say(place, ['./mine'], {confined})).toMatchObject({exitCode: 0, stdout: 'mine\n'});
  });

  it.each([true, false])('what cannot be started is told as bash tells it, confined: %s', async confined => {
    if (confined && noBubblewrap) return;
    const place = sandboxHome();
    const program = readFileSync('/bin/true');
    const loader = program.indexOf('/lib');
    const files: Record<string, string | Buffer> = {
      missing: '#!/no/such -x\n',
      windows: '#!/bin/sh\r\necho x\n',
      nested: '#!./missing\n',
      plain: '#! ./notes.txt\n',
      folder: '#!/usr\n',
      relative: '#!sh\n',
      cut: program.subarray(0, 100),
      head: program.subarray(0, 20),
      data: '\0\x01\x02',
      loader: Buffer.concat([program.subarray(0, loader), Buffer.from('/bil'), program.subarray(loader + 4)]),
      empty: '',
      text: 'echo text\n',
      nothing: '#! \necho nothing\n',
      good: '#! /usr/bin/env sh\necho good\n',
      program,
    };
    for (const [name, content] of Object.entries(files))
      writeFileSync(join(place.workspace, name), content, {mode: 0o755});
    writeFileSync(join(place.workspace, 'notes.txt'), 'notes');
    for (const name of Object.keys(files)) {
      const bash = spawnSync('bash', ['-c', `./${name}`], {cwd: place.workspace, encoding: 'utf8'});
      const {exitCode, stdout, stderr} = await say(place, [`./${name}`], {confined});
      // Its words differ from version to version.
      expect({name, exitCode, stdout, said: stderr !== ''}).toEqual({
        name,
        exitCode: bash.status,
        stdout: bash.stdout,
        said: bash.stderr !== '',
      });
    }
  });
});
