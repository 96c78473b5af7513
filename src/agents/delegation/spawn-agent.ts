import {SPAWNED, spawnedPath, spawnedTemplate} from '../../check/spawned-agent.ts';
import {GENERAL} from '../../check/task-links.ts';
import {agentNameIn} from '../../decide/new-tasks.ts';
import {taintOf} from '../../decide/taint.ts';
import {failure} from '../../effects/tool/failure.ts';
import type {Arguments, ToolResult} from '../../effects/tool/tool.ts';
import {escapeAll} from '../../formats/common/visible.ts';
import {modelNamed} from '../../formats/model-choice.ts';
import type {Call} from '../../formats/session/session-schema.ts';
import {newTemplate, type TemplateValue} from '../../formats/template.ts';
import {lookAgain} from '../../loop/look-again.ts';
import type {Reconciler} from '../../loop/reconciler.ts';
import {agentExists, isPersonIn, suggestAgents} from '../mail/agents.ts';
import {reportIfStuck} from '../mail/report-if-stuck.ts';
import {type Caller, isChild} from '../state/caller.ts';
import type {With} from '../state/parts.ts';

/** Add an agent. Resolves when its template is written. The call names the template, so repeating it changes nothing. */
export async function spawnAgent(
  daemon: With<'files' | 'current' | 'turns'>,
  caller: Caller,
  call: Call,
  wanted: Arguments<'agent_spawn'>,
): Promise<ToolResult> {
  const {files, current, turns} = daemon;
  const {name, template = GENERAL, provider, model, system_prompt, tools, persistent} = wanted;
  if (isChild(caller.of.header))
    return failure('NOT_ALLOWED', 'this session does a task for another agent, and adds no agents');
  const path = spawnedPath(name);
  const done: ToolResult = {success: true, name, file: path};
  if (agentExists(files, name)) {
    const {spawned_in: from} = (await current.template(name)) ?? ({} as Partial<TemplateValue>);
    if (from?.session === caller.session && from.call === call.id) return done;
    return failure('INVALID_ARGUMENTS', `name: there is an agent ${escapeAll(name)} already`);
  }
  if (isPersonIn(files, name)) return failure('INVALID_ARGUMENTS', `name: ${escapeAll(name)} is a person`);
  const base = agentNameIn(template);
  const value = agentExists(files, base) ? await current.template(base) : undefined;
  if (!value)
    return failure(
      'INVALID_ARGUMENTS',
      `template: there is no agent ${escapeAll(base)}; ${suggestAgents(files, base)}`,
    );
  const planned = spawnedTemplate(
    {name, model: modelNamed(provider, model), systemPrompt: system_prompt, tools, persistent},
    value,
    {by: `@${caller.agent}`, in: {session: caller.session, call: call.id}, taint: taintOf(caller.of)},
  );
  if ('problem' in planned) return failure('INVALID_ARGUMENTS', planned.problem);
  const text = newTemplate(planned.value, `${'../'.repeat(SPAWNED.split('/').length - 1)}schemas/agent.json`);
  return new Promise(resolve => {
    const stop = reportIfStuck(
      files,
      () => path,
      () => {
        if (turns.delegated.agents.delete(path)) resolve(failure('FAILED', `${path} cannot be written now`));
      },
    );
    const written = () => {
      stop();
      resolve(done);
    };
    turns.delegated.agents.set(path, {text, by: caller.agent, trailers: [['Call', call.id]], written});
    lookAgain(files, path);
  });
}

/** templates/spawned/: writes the templates of agents that agents add. */
export function spawnedAgentReconciler({turns}: With<'turns'>): Reconciler {
  const {agents} = turns.delegated;
  return {
    kind: 'template',
    owns: path => path.startsWith(SPAWNED),
    create: path => {
      const agent = agents.get(path);
      if (!agent) return undefined;
      const {text, by, trailers, written} = agent;
      return {
        text,
        entry: {words: `agent added by @${by}`, cause: 'spawn', trailers},
        done: () => {
          agents.delete(path);
          written();
        },
      };
    },
  };
}
