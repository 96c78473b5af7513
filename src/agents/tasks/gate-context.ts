import type {GateContext} from '../../decide/task-gate.ts';
import type {HomeFiles} from '../../loop/home-files.ts';
import {agentExists} from '../mail/agents.ts';
import {approvalStateOf} from '../sessions/budget.ts';

/** Look up agents and decisions in the index. */
export function gateContext(files: HomeFiles): GateContext {
  return {
    isAgent: name => agentExists(files, name),
    isApproved: approval => approvalStateOf(files, approval) === 'approved',
  };
}
