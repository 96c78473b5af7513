import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {expect, it, onTestFinished} from 'vitest';
import {SilenceTimer} from '../../src/effects/model/silence-timer.ts';
import {until} from '../cli/run.ts';

/** This process does nothing else for so long, as on a machine that is busy. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

it('a silent server is given up, and one that is heard is not', async () => {
  const [silent, heard] = [new SilenceTimer(60), new SilenceTimer(60)];
  onTestFinished(() => heard.end());
  const timer = setInterval(() => heard.heard(true), 10);
  await until(
    () => silent.isOver,
    isOver => isOver,
  );
  clearInterval(timer);
  expect(silent.signal.aborted).toBe(true);
  expect(heard.isOver).toBe(false);
});

it('what came while this process was busy is read before the server is given up', async () => {
  const server = createServer((_, response) => response.end('here')).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise(resolve => server.once('listening', resolve));
  const {port} = server.address() as AddressInfo;
  await fetch(`http://127.0.0.1:${port}/`);
  for (let i = 0; i < 5; i++) {
    const patience = new SilenceTimer(200);
    const asked = fetch(`http://127.0.0.1:${port}/`, {signal: patience.signal}).then(async response => {
      patience.heard(true);
      return response.text();
    });
    setImmediate(() => block(500));
    expect(await asked).toBe('here');
    patience.end();
  }
});

it('signs of life alone are not enough', async () => {
  const patience = new SilenceTimer(20);
  const timer = setInterval(() => patience.heard(false), 5);
  await until(
    () => patience.isOver,
    isOver => isOver,
  );
  clearInterval(timer);
});
