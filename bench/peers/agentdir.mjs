// node agentdir.mjs HOME HOME CONVERSATIONS TURNS: serves the home in this process. A question is saved as `agentdir send` saves it; the
// answer is in the file, and later in git. Then what is kept of the last conversation, by a new reading.
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {nodeDisk} from '../../dist/home/disk/disk.js';
import {save} from '../../dist/home/save.js';
import {parseSession} from '../../dist/index.js';
import {serveHere} from '../serve-here.mjs';
import {converse, INSTRUCTIONS} from './conversation.mjs';

const [home, , conversations, turns] = process.argv.slice(2);
const {served, momentOf} = serveHere(home);

const pathOf = id => `sessions/bench/${id}.session.yaml`;
const lastOf = id => parseSession(readFileSync(join(home, pathOf(id)), 'utf8')).messages;

await momentOf(({event}) => event === 'serving');
mkdirSync(join(home, 'sessions/bench'), {recursive: true});
await sleep(500);
const result = await converse(Number(conversations), Number(turns), async id => {
  const time = new Date().toISOString();
  const seen = momentOf(({event, path}) => event === 'seen' && path === pathOf(id));
  writeFileSync(
    join(home, pathOf(id)),
    `session_id: ${id}\nagent_id: bench\nagent_type: bench\nmodel: default\nsystem_prompt: ${INSTRUCTIONS}\ncreated: '${time}'\nupdated: '${time}'\nstatus: sleeping\nmessages: []\n`,
  );
  await seen;
  await sleep(200);
  return async question => {
    const before = readFileSync(join(home, pathOf(id)));
    const message = `  - timestamp: '${new Date().toISOString()}'\n    role: user\n    from: human\n    content: ${question}\n`;
    const text = before.toString().replace('status: sleeping', 'status: active').replace('messages: []', 'messages:');
    const done = momentOf(({event, session, calls}) => event === 'answered' && session === id && calls === 0);
    const later = momentOf(({event, subject}) => event === 'committed' && subject === `session(${id}): assistant turn`);
    const saved = await save(nodeDisk(home), {
      path: pathOf(id),
      expected: before,
      bytes: Buffer.from(`${text}${message}`),
      durable: true,
    });
    if (!('saved' in saved)) throw new Error(`not saved: ${JSON.stringify(saved)}`);
    await done;
    return {answer: () => lastOf(id).at(-1)?.content, later};
  };
});
process.kill(process.pid, 'SIGTERM');
await served;
const messages = lastOf(`conversation-${conversations}`);
console.log(JSON.stringify({...result, kept: messages.length, last: messages.at(-1)?.content}));
