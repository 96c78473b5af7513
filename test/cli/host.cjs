/**
 * Runs commands of the built program one after the other in this process, as test/cli/hosts.ts asks for on descriptor 3. A process of its own for
 * each command takes most of its time to load the program. What a command leaves in the process is taken back before the next.
 */
const {Socket} = require('node:net');
const {join} = require('node:path');
const {createInterface} = require('node:readline');
const root = join(__dirname, '../..');
const {run} = require(join(root, 'bin/program.js'));

const channel = new Socket({fd: 3, readable: true, writable: true});
const answer = words => channel.write(`${JSON.stringify(words)}\n`);
/** What each stream's `write` was before a command. */
const streams = {stdout: process.stdout, stderr: process.stderr};

/** Until the command is over. One that fails as no command should ends this process, as it would have ended its own. */
async function command({args, cwd, env}) {
  const out = {stdout: [], stderr: []};
  for (const [name, stream] of Object.entries(streams))
    stream.write = (chunk, encoding, done) => {
      out[name].push(typeof chunk === 'string' ? Buffer.from(chunk, 'utf8') : Buffer.from(chunk));
      const after = typeof encoding === 'function' ? encoding : done;
      if (after) process.nextTick(after);
      return true;
    };
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  process.argv = [process.execPath, join(root, 'bin/main.js'), ...args];
  process.exitCode = undefined;
  const listeners = new Map(process.eventNames().map(name => [name, process.listeners(name)]));
  await run();
  const code = process.exitCode ?? 0;
  process.exitCode = undefined;
  for (const name of process.eventNames())
    for (const listener of process.listeners(name))
      if (!listeners.get(name)?.includes(listener)) process.removeListener(name, listener);
  for (const stream of Object.values(streams)) {
    stream.removeAllListeners('error');
    delete stream.write;
  }
  // Its folder may be removed now.
  process.chdir('/');
  const text = name => Buffer.concat(out[name]).toString('utf8');
  answer({code, stdout: text('stdout'), stderr: text('stderr')});
}

createInterface({input: channel}).on('line', line => void command(JSON.parse(line)));
channel.on('close', () => process.exit());
