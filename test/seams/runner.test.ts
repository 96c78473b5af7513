import {builtInTools} from '../../src/effects/tools/prepare-call.ts';
import {inProcessRunner} from '../../src/runners/in-process.ts';
import type {DaemonServices, RunnableCall, Runner} from '../../src/runners/runner.ts';
import type {ToolHome} from '../effects/tool-home.ts';
import {runnerContract} from './runner-contract.ts';

function inProcess({context: {commands, redact}}: ToolHome): Runner {
  return inProcessRunner({tools: builtInTools, sandbox: commands.sandbox, redact, env: {}});
}

/** As a runner in another process would have it: what goes in and out is JSON, and services are asked by name. */
function overJson(inner: Runner): Runner {
  const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
  const remote = (services: DaemonServices): DaemonServices => {
    const ask = async (name: keyof DaemonServices, args: unknown[]) => {
      const answer: unknown = await (services[name] as (...all: unknown[]) => unknown)(...copy(args));
      return answer === undefined ? undefined : copy(answer);
    };
    const names = Object.keys(services) as (keyof DaemonServices)[];
    const proxies = names.map(name => [name, (...args: unknown[]) => ask(name, args)]);
    return Object.fromEntries(proxies) as DaemonServices;
  };
  return {
    ask: async (question, stream) => copy(await inner.ask(copy(question), stream)),
    execute: async (call, services, signal) => {
      // Patterns of the policy are compiled, and would be compiled again over there.
      const plain: RunnableCall = {...copy(call), policy: call.policy};
      return copy(await inner.execute(plain, remote(services), signal));
    },
  };
}

runnerContract('in this process', inProcess);
runnerContract('a second implementation, over JSON', of => overJson(inProcess(of)));
