import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, it} from 'vitest';
import {agentdir, newHome, put, until} from '../cli/run.ts';
import {read, serve, settled} from './serve.ts';
import {atRest, leastForm, pathOf, sessionOf, whenIt} from './talk.ts';

const template = (model: string, prompt: string) =>
  `id: talker\ntype: talker\nmodel: ${model}\nsystem_prompt: ${prompt}\ncapabilities: []\n`;
const TEMPLATE = 'templates/talker.agent.yaml';

it('a session keeps its model and prompt when the template changes, says so, and takes the new on demand', async () => {
  const home = await newHome({
    [TEMPLATE]: template('playbook', 'You are brief.'),
    [pathOf('talk')]: leastForm('hello'),
    [pathOf('own')]: leastForm('hello').replace('messages:', 'system_prompt: Mine.\nkeeps: [system_prompt]\nmessages:'),
  });
  const served = await serve(home);
  await whenIt(home, 'talk', atRest);
  await whenIt(home, 'own', atRest);
  expect(read(home, 'NEEDS_YOU.md')).not.toContain('template');
  const before = await settled(home, pathOf('talk'), text => text.includes('sleeping'));
  const own = read(home, pathOf('own'));

  put(home, {[TEMPLATE]: template('default', 'You are long.')});
  const told = await until(
    () => read(home, 'NEEDS_YOU.md'),
    text => text.includes('remove system_prompt: here'),
  );
  expect(told).toContain(`the session keeps the model "playbook", but ${TEMPLATE} has "default"`);
  expect(told).toContain('sessions/own.session.yaml');
  expect(told.match(/own\.session\.yaml.*prompt/)).toBeNull();
  expect(read(home, pathOf('talk'))).toBe(before);
  expect(read(home, pathOf('own'))).toBe(own);
  const check = await agentdir(home, ['check']);
  expect(check.code).toBe(0);
  expect(check.stdout).toContain('to keep this one without the warning, add "keeps: [model]"');

  // The person takes the new prompt, and keeps the model.
  const lines = before.replace(/^system_prompt:.*\n/m, '').replace('messages:', 'keeps: [model]\nmessages:');
  writeFileSync(join(home, pathOf('talk')), lines);
  await until(
    () => sessionOf(home, 'talk').header,
    header => header?.system_prompt === 'You are long.',
  );
  expect(sessionOf(home, 'talk').header?.model).toBe('playbook');
  await until(
    () => read(home, 'NEEDS_YOU.md'),
    text => !text.includes('sessions/talk.session.yaml'),
  );
  await served.stop();
});
