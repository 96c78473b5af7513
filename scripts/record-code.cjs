// Loaded before bin/main.js while it is built: at its end, writes down what V8 has compiled of the program.
const {statSync, writeFileSync} = require('node:fs');
const vm = require('node:vm');

// Code is taken only with the flags it was made with.
require('node:v8').setFlagsFromString = () => {};

// The screen of chat needs a terminal, which a build may not have: it is opened, gets a line and a request to leave.
if (process.argv.at(-1) === 'chat') {
  const keys = new (require('node:stream').PassThrough)();
  Object.defineProperty(process, 'stdin', {value: Object.assign(keys, {isTTY: true, setRawMode() {}})});
  Object.assign(process.stdout, {isTTY: true, columns: 80, rows: 24});
  process.env.TERM = 'xterm';
  for (const [ms, typed] of [
    [600, 'hello'],
    [700, '\u0001d'],
    [1_500, ''],
  ])
    setTimeout(() => (typed === '' ? keys.end() : keys.write(typed)), ms);
}

const scripts = new Map();

vm.Script = class extends vm.Script {
  constructor(source, {cachedData: _, ...options}) {
    super(source, options);
    scripts.set(`${options.filename}.code`, this);
  }
};

// The more of it ran, the more was compiled, and the larger it is.
process.on('exit', () => {
  for (const [file, script] of scripts) {
    const code = script.createCachedData();
    if (code.length > (statSync(file, {throwIfNoEntry: false})?.size ?? 0)) writeFileSync(file, code);
  }
});
