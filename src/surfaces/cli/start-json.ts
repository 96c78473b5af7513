import {jsonText} from '../../formats/common/visible.ts';
import type {Report} from '../../formats/daemon-event.ts';

let lines = '';

/** Prints events as JSON lines, batched per event-loop turn. */
export const jsonReporter: Report = event => {
  if (lines === '') setImmediate(flush);
  const {text: _, ...rest} = {text: undefined, ...event};
  lines += `${jsonText({time: new Date().toISOString(), ...rest})}\n`;
  // Flush at once: programs wait for these events.
  if (event.event === 'serving' || event.event === 'stopped') flush();
};

function flush(): void {
  if (lines === '') return;
  process.stdout.write(lines);
  lines = '';
}
