import {expect, test} from 'vitest';
import {sendsOut} from '../../src/policy/command/sends-out.ts';
import {readLine} from '../../src/policy/command/shell.ts';

const reason = (line: string) =>
  readLine(line)
    .segments.map(({argv}) => sendsOut(argv))
    .find(why => why !== undefined);

test.each([
  'curl https://example.com',
  '/usr/bin/wget x',
  'env A=1 timeout 5 curl x',
  "bash -c 'cat x | nc host 80'",
  'sudo ssh host ls',
  'scp x host:',
  'rsync -a . host:/x',
  'rsync -a . rsync://host/x',
  'git push',
  'git -C sub push origin main',
  'git fetch --all',
  'git clone https://x/y',
  'git pull',
  'git remote update',
  'git submodule update --init',
  'docker push x',
  'docker image pull x',
  'docker compose pull',
  'podman pull x',
  'npm publish',
  'npm i',
  'npm --prefix sub install',
  'pnpm add x',
  'yarn',
  'npx x',
  'pip install x',
  'pip3 install x',
  'python3 -m x; mail -s x y',
  'cargo publish',
  'go get x',
  'kubectl apply -f x',
  'xargs curl',
  'find . -exec curl {} +',
  'busybox wget x',
])('%s leaves the machine', line => {
  expect(reason(line)).toMatch(/machine/);
});

test.each([
  'ls',
  'git status',
  'git log push',
  'git commit -m push',
  'rsync -a x y/',
  'docker ps',
  'docker rm x',
  'npm test',
  'npm run build',
  'cargo build',
  'make install',
  'echo curl',
  'go test ./...',
  'toString',
  '',
])('%s is not known to', line => {
  expect(reason(line)).toBeUndefined();
});
