import {parseArgs} from 'node:util';

const help = `npm run soak -- [--seconds 180] [--seed N] [--agents 200] [--calm] [--keep] [--json] [--sabotage]

  --seconds N   how long there is work, about; checks come on top
  --seed N      the same plan again; a new one each time if left out
  --agents N    agents in the home
  --calm        nobody kills the daemon, and the disk is never full: how one that lives long does
  --keep        leave the home also if nothing is wrong
  --json        the report as one JSON value
  --sabotage    in the end break one invariant after the other on purpose: each must be seen`;

const whole = (text, least, name) => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least) {
    console.error(`soak: expected a whole number of at least ${least} for --${name}, found ${text}`);
    process.exit(2);
  }
  return value;
};

/** What the command line asks for. */
export function readOptions(args = process.argv.slice(2)) {
  let values;
  try {
    const text = {type: 'string'};
    const flag = {type: 'boolean', default: false};
    const options = {
      seconds: text,
      seed: text,
      agents: text,
      calm: flag,
      keep: flag,
      json: flag,
      sabotage: flag,
      help: flag,
    };
    values = parseArgs({args, options}).values;
  } catch (error) {
    console.error(`soak: ${error.message}\n\n${help}`);
    process.exit(2);
  }
  if (values.help) {
    console.log(help);
    process.exit(0);
  }
  return {
    ...values,
    seconds: whole(values.seconds ?? '180', 1, 'seconds'),
    seed: whole(values.seed ?? String(Math.floor(Math.random() * 1e6)), 0, 'seed'),
    agents: whole(values.agents ?? '200', 4, 'agents'),
  };
}
