import {exit} from '../../formats/common/errors.ts';
import {allTargets, type Stopped, stopTarget, stopTargets} from '../actions/stop/stop-targets.ts';
import {colors, plural, print, printJson} from '../terminal/output.ts';

export interface StopTargetsOptions {
  home: string;
  /** Empty: all. */
  targets: readonly string[];
  json: boolean;
}

/** All names are resolved before the first one is stopped. */
export async function stopTargetsCommand({home, targets, json}: StopTargetsOptions): Promise<number> {
  const wanted = targets.length === 0 ? allTargets(home) : targets.map(each => stopTarget(home, each));
  const stopped = await stopTargets(home, wanted);
  if (json) printJson(stopped);
  else if (stopped.length === 0) print('there is nothing to stop');
  else if (targets.length === 0) print(summary(stopped));
  else for (const one of stopped) print(line(one));
  return exit.done;
}

function summary(stopped: readonly Stopped[]): string {
  const instances = stopped.flatMap(({kind, name}) => (kind === 'instance' ? [name] : []));
  const agents = stopped.length - instances.length;
  const resume = instances.slice(0, 3).map(name => `agentdir start @${name}`);
  return [
    `${colors.green('stopped')} ${plural(instances.length, 'workflow instance')} and ${plural(agents, 'agent')} of the home`,
    `  to continue: ${['agentdir agents start --all', ...resume].join('; ')}${instances.length > 3 ? '; …' : ''}`,
  ].join('\n');
}

function line({kind, name, changed, ended}: Stopped): string {
  const shown = colors.bold(kind === 'instance' ? `@${name}` : name);
  if (ended) return changed ? `${colors.green('stopped')} ${shown}: its task has ended` : `${shown} has ended already`;
  if (!changed) return `${shown} is stopped already`;
  if (ended) return `${colors.green('stopped')} ${shown}`;
  const again = {
    instance: `agentdir start @${name}`,
    agent: `agentdir agents start ${name}`,
    session: `agentdir resume ${name}`,
  };
  return `${colors.green('stopped')} ${shown}; to continue: ${again[kind]}`;
}
