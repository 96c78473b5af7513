import {describe, expect, test} from 'vitest';
import {readLine} from '../../src/policy/command/shell.ts';
import {unwrap} from '../../src/policy/command/wrappers.ts';
import {cpu} from '../cpu.ts';

function inside(line: string): {commands: string[]; why: string | undefined; doubts: string[]} {
  const commands: string[] = [];
  const [segment] = readLine(line).segments;
  const {why, doubts} = unwrap(segment?.argv ?? [], inner => commands.push(inner.join(' ')));
  return {commands, why, doubts};
}

describe('unwrap', () => {
  test.each([
    'env rm -rf x',
    'env -i -u A B=c rm -rf x',
    "env -S 'rm -rf x'",
    '/usr/bin/env rm -rf x',
    'xargs rm -rf x',
    'xargs -0 -n 1 -P4 rm -rf x',
    'nice rm -rf x',
    'nice -n 19 rm -rf x',
    'ionice -c 3 rm -rf x',
    'timeout 5 rm -rf x',
    'timeout -k 1 -s KILL 5 rm -rf x',
    'timeout --signal=KILL 5 rm -rf x',
    'nohup rm -rf x',
    'setsid rm -rf x',
    'sudo rm -rf x',
    'sudo -u root A=b rm -rf x',
    'sudo -- rm -rf x',
    'doas -u root rm -rf x',
    "su root -c 'rm -rf x'",
    "su -c 'rm -rf x'",
    'exec -a y rm -rf x',
    'command rm -rf x',
    'builtin rm -rf x',
    'stdbuf -o L rm -rf x',
    '/usr/bin/time -p rm -rf x',
    'watch -n 5 rm -rf x',
    "watch 'rm -rf x'",
    'parallel rm -rf x',
    'chroot /y rm -rf x',
    'ssh -p 22 host rm -rf x',
    "ssh host 'cd y; rm -rf x'",
    'busybox rm -rf x',
    "sh -c 'rm -rf x'",
    "bash -lc 'rm -rf x'",
    "bash -o pipefail -c 'rm -rf x'",
    "sh -c 'ls; rm -rf x'",
    "sh -c 'ls $(rm -rf x)'",
    'sh -c "sh -c \'rm -rf x\'"',
    'eval rm -rf x',
    "eval 'rm -rf x'",
    "trap 'rm -rf x' EXIT",
    "find . -exec rm -rf x ';'",
    'find . -name a -execdir ls + -ok rm -rf x +',
    "git -c core.pager='rm -rf x' log",
    "git -c alias.y='!rm -rf x' y",
    "git submodule foreach 'rm -rf x'",
    'git bisect run rm -rf x',
    "git rebase --exec 'rm -rf x' main",
    'docker exec -it c rm -rf x',
    'docker run --rm -v a:b alpine rm -rf x',
    'docker compose exec web rm -rf x',
    'docker-compose exec web rm -rf x',
    'kubectl exec -it pod -- rm -rf x',
    'npx rm -rf x',
    'npm exec -- rm -rf x',
    'flock /tmp/l rm -rf x',
    'strace -f -o out rm -rf x',
    "script -qc 'rm -rf x' /dev/null",
    "su -lc 'rm -rf x' root",
    "su --command='rm -rf x'",
    "env '-Srm -rf x'",
    "tmux new-session -d 'rm -rf x'",
    'sudo env nice -n 5 timeout 5 xargs rm -rf x',
    'env -Z rm -rf x',
    'env -Z y rm -rf x',
    'env -Z y -i -Z y rm -rf x',
    'timeout -Z y 5 rm -rf x',
  ])('sees rm -rf x in %s', line => {
    const {commands, why} = inside(line);
    expect(commands).toContain('rm -rf x');
    expect(why).toBeDefined();
  });

  test.each([
    ['ls -la', undefined],
    ['env', undefined],
    ['find . -name x', undefined],
    ['git log', undefined],
    ['docker ps', undefined],
    ['cd x', 'cd means something only inside a shell'],
    ['sh', 'sh runs what it reads'],
    ['bash x.sh', 'bash runs a script'],
    ['command -v sudo', 'command only looks a name up'],
  ])('of %s says %s', (line, why) => {
    expect(inside(line)).toEqual({commands: [], why, doubts: []});
  });

  test('git without its global options is seen too', () => {
    expect(inside('git -C x --no-pager push --force').commands).toEqual(['git push --force']);
  });

  test('does not take operands for commands', () => {
    expect(inside('xargs -0 grep sudo').commands).toEqual(['grep sudo']);
    expect(inside('timeout 5 grep sudo').commands).toEqual(['grep sudo']);
  });

  test('doubts what it cannot follow', () => {
    expect(inside(`${'env '.repeat(40)}rm`).doubts).toEqual(['wraps commands too deep to follow']);
    expect(inside(`env ${'-Z a '.repeat(40)}rm`).doubts).toEqual(['gives env too many options to follow']);
    expect(inside("sh -c 'ls *'").doubts).toEqual(['runs a line that uses an unquoted glob']);
  });

  test.each([
    'env ',
    'watch ',
    'eval ',
    'ssh a ',
    'env -q ',
    'sudo su -c ',
    'find -exec ',
    'git -c a=!git ',
    'watch -Z ',
  ])('is quick on %j over and over', piece => {
    const start = cpu();
    inside(piece.repeat(16_000 / piece.length));
    expect(cpu() - start).toBeLessThan(3000);
  });
});
