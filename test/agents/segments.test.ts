import {expect, it} from 'vitest';
import {Segments} from '../../src/agents/state/segments.ts';
import {nodeDisk} from '../../src/home/disk/disk.ts';
import {put, temporary} from '../cli/run.ts';

it('a segment that many turns ask for at once is read once, and stays in memory', async () => {
  const home = temporary();
  const path = 'sessions/archive/s.1.session.yaml';
  const content = 'x'.repeat(1024 * 1024);
  put(home, {[path]: `session_id: s\nagent_id: a\nmessages:\n  - role: user\n    content: ${content}\n`});
  let reads = 0;
  const disk = nodeDisk(home);
  const counted: typeof disk = {
    ...disk,
    open: (...args) => {
      reads++;
      return disk.open(...args);
    },
  };
  const segments = new Segments(counted);
  // Together longer than what is kept in memory.
  const all = await Promise.all(Array.from({length: 40}, () => segments.messages([path])));
  expect(all.map(messages => messages[0]?.content?.length)).toEqual(Array(40).fill(content.length));
  expect(reads).toBe(1);
  await segments.messages([path]);
  expect(reads).toBe(1);
});
