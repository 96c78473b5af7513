import {spawn} from 'node:child_process';
import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import {violate} from '../ledger.mjs';
import {environment, run} from '../run-command.mjs';

/** 9: the daemon's key is in no file and no object of any repository, however it was told to write it. */
export async function secrets({ledger, secret}, {home}) {
  await findSecret({ledger, secret}, home);
  const workspaces = join(home, '.workspaces');
  const others = await run('ls', [workspaces], '/').then(({stdout}) => stdout.split('\n').filter(Boolean));
  const folders = [
    join(home, '.git'),
    ...others.filter(name => name.endsWith('.git')).map(name => join(workspaces, name)),
  ];
  for (const folder of folders)
    if (await isIn(folder, secret)) violate(ledger, 9, `the key is in an object of ${folder.slice(home.length + 1)}`);
  // So that a search that looks at nothing is seen.
  if (readdirSync(home).length === 0) violate(ledger, 9, 'there is no home to search');
}

/** In files as they are. */
export async function findSecret({ledger, secret}, home, options = []) {
  const found = await run('grep', ['-rlaF', ...options, '--', secret, home], '/');
  for (const file of found.stdout.split('\n').filter(Boolean))
    violate(ledger, 9, `the key is in ${file.slice(home.length + 1)}`);
}

function isIn(folder, secret) {
  return new Promise(resolve => {
    const all = spawn('git', ['--git-dir', folder, 'cat-file', '--batch', '--batch-all-objects', '--buffer'], {
      env: environment,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let tail = '';
    let found = false;
    all.stdout.setEncoding('latin1').on('data', chunk => {
      const text = tail + chunk;
      found ||= text.includes(secret);
      tail = text.slice(-secret.length);
    });
    all.once('close', () => resolve(found));
  });
}
