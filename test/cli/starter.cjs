/**
 * Starts programs for tests, as test/cli/starter.ts asks for on descriptor 3. Linux copies the memory map of a process that starts another: of a test
 * runner with hundreds of megabytes that takes ten times as long as what git then does.
 */
const {execFile, spawn} = require('node:child_process');
const {Socket} = require('node:net');
const {createInterface} = require('node:readline');

const channel = new Socket({fd: 3, readable: true, writable: true});
const report = words => channel.write(`${JSON.stringify(words)}\n`);
const running = new Map();

const requests = {
  run: ({id, file, args, cwd, env}) =>
    execFile(file, args, {cwd, env, maxBuffer: 64 * 1024 * 1024}, (error, stdout, stderr) =>
      report({id, code: error ? Number(error.code ?? 1) : 0, stdout, stderr}),
    ),
  start: ({id, file, args, options}) => {
    const child = spawn(file, args, {...options, stdio: ['ignore', 'pipe', 'pipe']});
    running.set(id, child);
    report({id, pid: child.pid});
    for (const name of ['stdout', 'stderr'])
      child[name].setEncoding('utf8').on('data', text => report({id, [name]: text}));
    child.once('exit', (code, signal) => {
      running.delete(id);
      report({id, exit: {code, signal}});
    });
  },
  kill: ({id, signal}) => running.get(id)?.kill(signal),
};

createInterface({input: channel}).on('line', line => {
  const request = JSON.parse(line);
  requests[request.what](request);
});
channel.on('close', () => process.exit());
