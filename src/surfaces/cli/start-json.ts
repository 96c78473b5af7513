import type {Report} from '../../formats/daemon-event.ts';

let lines = '';

/** A line of JSON for each thing that happens, for programs. Those of one turn of the loop are written together. */
export const jsonReporter: Report = happening => {
  if (lines === '') setImmediate(flush);
  const {text: _, ...rest} = {text: undefined, ...happening};
  lines += `${JSON.stringify({time: new Date().toISOString(), ...rest})}\n`;
  // Whoever waits for these waits for nothing else.
  if (happening.event === 'serving' || happening.event === 'stopped') flush();
};

function flush(): void {
  if (lines === '') return;
  process.stdout.write(lines);
  lines = '';
}
