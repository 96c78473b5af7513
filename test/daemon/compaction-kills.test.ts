import {describe, expect, it} from 'vitest';
import {checkpointPath} from '../../src/formats/common/key.ts';
import {until} from '../cli/run.ts';
import {goodNotes, isNotes, longTalk, makeSession, openCompactionHouse} from './compacting.ts';
import {read, serve, spawnDaemon} from './serve.ts';
import {append, atRest, sessionOf, whenIt} from './talk.ts';

const {house, play} = openCompactionHouse();

describe('a daemon that is killed while a session is compacted', () => {
  it.each(['turn-ask:1', 'turn-answer:1', 'save-rename:1', 'save-rename:2', 'version-append:3'])(
    'at %s: the next one compacts it, once, and no message is lost',
    async crash => {
      play(request => (isNotes(request) ? goodNotes(request) : {text: 'fine'}));
      expect(await house.daemon.stop()).toBe(0);
      const id = `killed-${crash.replace(':', '-')}`;
      const talk = longTalk().slice(0, 400);
      makeSession(house.home, id, talk);
      append(house.home, id, 'And now?');
      const killed = spawnDaemon(house.home, {...house.stage.env, AGENTDIR_CRASH_AT: crash});
      await until(
        () => [killed.child.signalCode, sessionOf(house.home, id).header?.status],
        ([signal, status]) => signal === 'SIGKILL' || status === 'sleeping',
        20_000,
      );
      await killed.kill();
      house.daemon = await serve(house.home, house.stage.env, end => house.ends.push(end));
      const done = await whenIt(
        house.home,
        id,
        (lines, session) => lines.at(-1) === 'assistant: fine' && atRest(lines, session),
      );
      expect(done.header?.context?.versions?.map(({version}) => version)).toEqual([1, 2]);
      expect(read(house.home, checkpointPath(id, 2))).toContain('the code of room 1 is ZX7919.');
      expect(done.messages.slice(0, talk.length)).toEqual(talk);
    },
  );
});
