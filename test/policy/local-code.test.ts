import {describe, expect, it} from 'vitest';
import {runsOurCode} from '../../src/policy/command/local-code.ts';

const isOurs = (path: string) => !path.startsWith('/') || path.startsWith('/home/workspaces/coder/');

describe('what a rule lets out of the sandbox', () => {
  it.each([
    'bash b.sh',
    'bash /home/workspaces/coder/b.sh',
    'node x.mjs',
    'python3 -m tool',
    'python3',
    'env bash b.sh',
    'timeout 5 node x.mjs',
    './run',
    'make',
    'npm test',
    'docker compose up',
    'docker build -f Dockerfile .',
    'find . -exec ./x ;',
    'awk -f prog data',
    'xargs sh',
  ])('%s: may run what an agent wrote', line => {
    expect(runsOurCode(line.split(' '), isOurs)).toEqual(expect.any(String));
  });

  it.each([
    'docker ps',
    'docker ps -a -f name=redis',
    'docker ps --filter name=redis --format {{.Status}}',
    'docker images',
    'docker version',
    'docker restart redis',
    'bash /opt/deploy.sh now',
    'node --version',
    'systemctl status redis',
    'ls -a /',
    'echo here',
    'git ls-remote .',
    'curl https://example.com/x',
    'uptime',
  ])('%s: does not', line => {
    expect(runsOurCode(line.split(' '), isOurs)).toBe(undefined);
  });
});
