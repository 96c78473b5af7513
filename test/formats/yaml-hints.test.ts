import {expect, it} from 'vitest';
import {parseSession} from '../../src/formats/session/session.ts';

it('a key that stands between an item and its keys is to be aligned, not to become an item', () => {
  const {problems} = parseSession('agent_id: a\nmessages:\n  - role: user\n   content: Hi\n');
  expect(problems).toMatchObject([
    {
      code: 'YAML_SYNTAX',
      line: 4,
      hint: 'align the line with the keys of the item above it, or begin it with - to make a new one',
    },
  ]);
});
