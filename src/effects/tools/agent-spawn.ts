import {isListedModel, modelNamed} from '../../formats/model-choice.ts';
import {judgeTool} from '../../policy/judge.ts';
import type {JudgingTool} from '../tool/tool.ts';

/** No rule lets an agent choose a model: a model that agentdir.yaml does not list always asks. */
export const agentSpawnTool: JudgingTool<'agent_spawn'> = {
  prepare: async (args, policy, context) => {
    const judged = judgeTool('agent_spawn', policy, {agent: context.agent});
    const model = modelNamed(args.provider, args.model);
    const isChosen = model !== undefined && !isListedModel(model, context.outside.settings);
    const {verdict, reason} =
      isChosen && judged.verdict === 'allow'
        ? ({verdict: 'ask', reason: `agentdir.yaml does not list the model ${model}`} as const)
        : judged;
    return {
      ...{verdict, reason},
      execute: () => context.spawnAgent(args),
      ask: () => ({
        type: 'delegate',
        title: `agent_spawn: ${args.name.replace(/\s+/g, ' ').slice(0, 80)}`,
        parts: [{label: 'Arguments', text: JSON.stringify(args, null, 2)}],
      }),
    };
  },
};
