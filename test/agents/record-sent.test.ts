import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, it} from 'vitest';
import {recordSent} from '../../src/agents/calls/record-sent.ts';
import type {With} from '../../src/agents/state/parts.ts';
import {nodeDisk} from '../../src/home/disk/disk.ts';
import {makeRedactor} from '../../src/policy/redact/redact.ts';
import {temporary} from '../cli/run.ts';

it('a message whose id has a secret in it is recorded once, without the secret', async () => {
  const home = temporary();
  const redact = makeRedactor([{name: 'TOKEN', value: 'hunter2-hunter2-hunter2'}]);
  const daemon = {files: {disk: nodeDisk(home)}, reports: {redact}} as unknown as With<'files' | 'reports'>;
  const record = {id: 'call-hunter2-hunter2-hunter2', text: 'hello'};
  await recordSent(daemon, 'slack.jsonl', record);
  await recordSent(daemon, 'slack.jsonl', record);
  const lines = readFileSync(join(home, 'inbox/slack.jsonl'), 'utf8').trim().split('\n');
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toContain('hunter2');
});
