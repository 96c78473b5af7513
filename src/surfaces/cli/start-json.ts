import type {Report} from '../../formats/daemon-event.ts';

let lines = '';

/** A line of JSON for each thing that happens, for programs. Those of one turn of the loop are written together. */
export const jsonReporter: Report = event => {
  if (lines === '') setImmediate(flush);
  const {text: _, ...rest} = {text: undefined, ...event};
  lines += `${JSON.stringify({time: new Date().toISOString(), ...rest})}\n`;
  // Whoever waits for these waits for nothing else.
  if (event.event === 'serving' || event.event === 'stopped') flush();
};

function flush(): void {
  if (lines === '') return;
  process.stdout.write(lines);
  lines = '';
}
