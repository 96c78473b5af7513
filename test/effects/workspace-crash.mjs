// One call in a workspace, to be killed on the way: node workspace-crash.mjs HOME
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {commitCall, keepFound, openWorkspace} from '../../dist/effects/workspace/repository.js';

const of = {home: process.argv[2], agent: 'coder', name: 'home'};
const call = {session: 'coder-1', call: 'crashed', words: 'write_file a.txt'};
await openWorkspace(of);
await keepFound(of, undefined, call);
writeFileSync(join(of.home, 'workspaces/coder/a.txt'), 'from the call\n');
writeFileSync(join(of.home, 'workspaces/coder/new.txt'), 'new\n');
await commitCall(of, call);
