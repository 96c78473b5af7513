import {existsSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {join} from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {agentdir, until} from '../cli/run.ts';
import {calling, command, resultsOf} from './calling.ts';
import {askedBy, decideInQueue, field, pagePath, whenItem} from './deciding.ts';
import {openHouse} from './house.ts';
import {read} from './serve.ts';

const AGENT = `id: talker
type: talker
system_prompt: You ask.
capabilities: [execute_command, edit_file, write_file]
`;
const house = openHouse(() => ({
  'templates/talker.agent.yaml': AGENT,
  'allowlist.yaml': 'version: 1\ncommands: {deny: ["rm -rf *"]}\ntools: []\n',
}));

/** A server on this machine: the sandbox has its own loopback, so only a command with network reaches it. */
async function pageServer(): Promise<string> {
  const server = createServer((_, response) => response.end('reached'));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const confines = () => agentdir(house.home, ['doctor']).then(({stdout}) => /sandbox.*bubblewrap/i.test(stdout));

/** Write a line below `## Review`, as a person does in an editor, and decide. */
function writeOnPage(id: string | undefined, line: string): void {
  const path = join(house.home, pagePath(id));
  const text = read(house.home, pagePath(id));
  writeFileSync(path, text.replace(/\*\*Decision:\*\*.*/, `**Decision:** APPROVED\n${line}`));
}

describe('an approval with more than was asked', () => {
  it('gives a command the network by one line on its page, which offers it; a result without it says so', async () => {
    if (!(await confines())) return console.warn('SKIPPED: no sandbox');
    const url = await pageServer();
    const fetching = `curl --silent --show-error ${url}`;
    calling(house, 'without', [command(fetching)]);
    decideInQueue(house.home, (await askedBy(house.home, 'without')).id, 'x');
    const [failed] = await resultsOf(house, 'without');
    expect(failed).toMatchObject({success: false, ran: 'sandbox', error: expect.stringContaining('network: true')});
    calling(house, 'with', [command(fetching)]);
    const {id, task} = await askedBy(house.home, 'with');
    expect(read(house.home, pagePath(id)).split('\n')).toEqual(
      expect.arrayContaining(['network: true', 'sandbox: host']),
    );
    expect(JSON.stringify(task.fields)).toContain('network: true');
    writeOnPage(id, 'network: true');
    const [result] = await resultsOf(house, 'with');
    expect(result).toMatchObject({success: true, ran: 'sandbox with network', edited: {network: 'true'}});
    expect(result?.stdout).toContain('reached');
    const done = await whenItem(house.home, id, ({outcome}) => outcome !== undefined);
    expect([field(done, 'network'), field(done, 'edited'), field(done, 'original')]).toEqual([
      'true',
      'true',
      fetching,
    ]);
  });

  it('runs it on the host by one line on the item, and only where that line stands', async () => {
    const outside = join(house.home, '..', 'outside');
    calling(house, 'host', [command(`touch ${outside}`)], [command('touch /usr/agentdir-outside')]);
    decideInQueue(house.home, (await askedBy(house.home, 'host')).id, 'x', {sandbox: 'host'});
    const second = await askedBy(house.home, 'host', 1);
    expect(existsSync(outside)).toBe(true);
    decideInQueue(house.home, second.id, 'x');
    const results = await resultsOf(house, 'host');
    expect(results[0]).toMatchObject({success: true, ran: 'host', edited: {sandbox: 'host'}});
    if (await confines())
      expect(results[1]).toMatchObject({
        success: false,
        ran: 'sandbox',
        error: expect.stringContaining('sandbox: host'),
      });
  });

  it('is refused where it is unclear, for other tools, and for what the policy denies', async () => {
    calling(house, 'unclear', [command('touch unclear')]);
    const {id} = await askedBy(house.home, 'unclear');
    decideInQueue(house.home, id, 'x', {sandbox: 'off'});
    await until(
      () => read(house.home, 'NEEDS_YOU.md'),
      text => text.includes('sandbox: off') && text.includes('grants nothing'),
    );
    decideInQueue(house.home, id, 'x', {sandbox: undefined});
    expect(await resultsOf(house, 'unclear')).toMatchObject([{success: true}]);
    calling(house, 'file', [{name: 'write_file', arguments: {path: 'a.txt', content: 'a\n'}}]);
    const file = await askedBy(house.home, 'file');
    expect(read(house.home, pagePath(file.id))).not.toContain('sandbox: host');
    decideInQueue(house.home, file.id, 'x', {sandbox: 'host'});
    await until(
      () => read(house.home, 'NEEDS_YOU.md'),
      text => text.includes('is for commands only'),
    );
    decideInQueue(house.home, file.id, 'x', {sandbox: undefined});
    expect(await resultsOf(house, 'file')).toMatchObject([{success: true}]);
  });

  it('is written by agentdir approve --network, and verify finds nothing to object to', async () => {
    calling(house, 'cli', [command('touch cli')]);
    const {id = ''} = await askedBy(house.home, 'cli');
    expect(await agentdir(house.home, ['approve', id, '--network'])).toMatchObject({code: 0});
    await resultsOf(house, 'cli');
    const done = await whenItem(house.home, id, ({outcome}) => outcome !== undefined);
    expect(field(done, 'network')).toBe('true');
    const verified = await agentdir(house.home, ['verify']);
    expect(verified, verified.stdout).toMatchObject({code: 0});
  });
});

describe('the page of a request', () => {
  it('says within its first ten lines what is to be decided, and always offers the narrowest rule for a file', async () => {
    calling(house, 'page', [
      command('touch made.txt', {reason: 'to see'}),
      {name: 'write_file', arguments: {path: 'src/a.ts', content: 'a\n'}},
    ]);
    const first = await askedBy(house.home, 'page');
    const top = read(house.home, pagePath(first.id)).split('\n').slice(0, 10).join('\n');
    expect(top).toContain('talker asks to run this command');
    expect(top).toContain('touch made.txt');
    expect(top).toContain('Risk: ');
    expect(top).toContain('under Review');
    expect(top).not.toMatch(/^\w+: /m);
    expect(read(house.home, pagePath(first.id))).toMatch(
      /^## Request\n\n(?:\w+: .*\n)*digest: .*\nshown: \w+\n\n## Review$/m,
    );
    const second = await askedBy(house.home, 'page', 1);
    const page = read(house.home, pagePath(second.id));
    expect(page.split('\n').slice(0, 10).join('\n')).toMatch(/asks to call write_file[\s\S]*src\/a\.ts/);
    expect(page).toContain('tools: {"match":"write_file","paths":["src/a.ts"],"agents":["talker"],"verdict":"allow"}');
    decideInQueue(house.home, first.id, 'x');
    decideInQueue(house.home, second.id, 'x', {always: 'true'});
    expect(await resultsOf(house, 'page')).toMatchObject([{success: true}, {success: true}]);
    expect(read(house.home, 'allowlist.yaml')).toContain('match: write_file');
    calling(house, 'again', [{name: 'write_file', arguments: {path: 'src/a.ts', content: 'b\n'}}]);
    expect(await resultsOf(house, 'again')).toMatchObject([{success: true}]);
  });

  it('is listed under a heading for each column', async () => {
    calling(house, 'listed', [command('touch listed')]);
    const {id} = await askedBy(house.home, 'listed');
    const {stdout} = await agentdir(house.home, ['approvals']);
    const head = stdout.split('\n').find(line => line.includes('Request'));
    expect(
      head
        ?.split('│')
        .slice(1, -1)
        .map(cell => cell.trim()),
    ).not.toContain('');
    decideInQueue(house.home, id, '-');
    await resultsOf(house, 'listed');
  });
});
