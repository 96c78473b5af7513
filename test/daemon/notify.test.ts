import {chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {expect, it, onTestFinished, vi} from 'vitest';
import {Notifier} from '../../src/daemon/notify.ts';

it.skipIf(process.platform !== 'linux')(
  'no text of an agent is markup or an option of a desktop notification',
  async () => {
    const home = mkdtempSync(join(tmpdir(), 'agentdir-notify-'));
    onTestFinished(() => rmSync(home, {recursive: true, force: true}));
    writeFileSync(join(home, 'notify-send'), '#!/bin/sh\nprintf "%s\\n" "$@" > shown.tmp && mv shown.tmp shown\n');
    chmodSync(join(home, 'notify-send'), 0o755);
    const notifier = new Notifier(home, {PATH: `${home}:/usr/bin:/bin`});
    notifier.serve({current: {settings: async () => ({notify: {desktop: true}})}} as never);
    const what = '--icon=x <img src="file:///etc/passwd"> & <a href="http://evil">Approve</a>\u001b[2J';
    notifier.follow({event: 'asked', agent: '--hint', session: 's', id: 'i', risk: 'LOW', what} as never);
    const shown = join(home, 'shown');
    await vi.waitFor(() => expect(existsSync(shown)).toBe(true), {timeout: 20_000});
    expect(readFileSync(shown, 'utf8')).toBe(
      '--app-name=agentdir\n--\n--hint asks for your approval\n--icon=x &lt;img src="file:///etc/passwd"&gt; &amp; &lt;a href="http://evil"&gt;Approve&lt;/a&gt;⟨U+001B⟩[2J\n',
    );
  },
);
