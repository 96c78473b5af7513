import {expect, it} from 'vitest';
import {agentdir, git, until} from '../cli/run.ts';
import {calling, command, resultsOf} from './calling.ts';
import {askedBy, decideInQueue, itemsOf, pagesIn} from './deciding.ts';
import {openHouse} from './house.ts';

const AGENT = `id: talker
type: talker
system_prompt: You fix.
capabilities: [execute_command, read_file, write_file]
`;
const POLICY = 'version: 1\ntools: [{match: write_file, verdict: ask}]\n';
const house = openHouse(() => ({'templates/talker.agent.yaml': AGENT, 'allowlist.yaml': POLICY}));
let tries = 0;

// What belongs to one step shares a commit if it comes within 0.3 s, which a busy machine may not manage.
it('a one-line fix with three approvals takes few commits, which name every change; verify and replay hold', {
  retry: 2,
}, async () => {
  const {home} = house;
  const id = `fix${++tries}`;
  const commits = async () => (await git(home, 'rev-list', 'HEAD')).trim().split('\n');
  const before = await commits();
  calling(
    house,
    id,
    [{name: 'read_file', arguments: {path: `${id}.txt`}}],
    [{name: 'write_file', arguments: {path: `${id}.txt`, content: 'a + b\n'}}],
    [command(`grep --count + ${id}.txt`)],
    [command(`touch ${id}.done`)],
  );
  for (const nth of [0, 1, 2]) decideInQueue(home, (await askedBy(home, id, nth)).id, 'x');
  await resultsOf(house, id);
  const own = () => itemsOf(home).filter(({session}) => session === id);
  await until(
    async () => own().every(({outcome}) => outcome !== undefined) && pagesIn(home, 'pending').length === 0,
    Boolean,
  );
  await until(
    () => git(home, 'status', '--porcelain'),
    text => text === '',
  );
  const since = (await commits()).slice(0, -before.length);
  const log = await git(home, 'log', '--reverse', '--format=%an: %s%n%(trailers:key=Step)', `-${since.length}`);
  for (const item of own())
    for (const words of ['asked', 'approved', 'done']) expect(log).toContain(`${item.id} ${words}`);
  for (const words of ['result of read_file', 'started write_file', 'result of write_file'])
    expect(log).toContain(words);
  expect(log.match(/approved \w+ by hand/g)).toHaveLength(3);
  expect(await agentdir(home, ['verify', id])).toMatchObject({code: 0});
  expect(await agentdir(home, ['replay', id])).toMatchObject({code: 0});
  // 13 on a quiet machine: one more than after `agentdir send`, which fills in the fields itself. Commits of each change alone are 24.
  expect(since.length, log).toBeLessThanOrEqual(18);
});
