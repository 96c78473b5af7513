import {toolNamed} from '../../policy/tools.ts';
import {notSetUp} from '../connect/set-up.ts';
import {prepareCall} from './prepare-call.ts';
import type {ToolProvider} from './provider.ts';
import {offers} from './registry.ts';

/** The tools of this program: `registry.ts` has a line for each. */
export const builtInTools: ToolProvider = {
  name: 'built-in',
  has: tool => toolNamed(tool) !== undefined,
  list: ({capabilities, settings, env}) => offers(capabilities, notSetUp(settings, env)),
  prepare: (call, context) => prepareCall(call, call.capabilities, call.policy, context),
};
