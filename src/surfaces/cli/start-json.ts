import type {Report} from '../../happening.ts';
import {printJson} from './output.ts';

/** A line of JSON for each thing that happens, for machines. */
export const jsonReporter: Report = happening => {
  const {text: _, ...rest} = {text: undefined, ...happening};
  printJson({time: new Date().toISOString(), ...rest});
};
