import {describe, expect, it} from 'vitest';
import {failure} from '../../src/effects/tool/failure.ts';
import {builtInTools} from '../../src/effects/tools/prepare-call.ts';
import {type ToolProvider, Tools} from '../../src/effects/tools/provider.ts';
import {allowAll, toolHome} from '../effects/tool-home.ts';
import {toolProviderContract} from './tool-provider-contract.ts';

const TOOL = 'mcp__clock__time';

/** A provider as a server of tools would be one: its only tool tells the time in a zone. */
function clockTools(): ToolProvider {
  const offer = {
    name: TOOL,
    description: 'The time in a zone',
    parameters: {type: 'object', properties: {zone: {type: 'string'}}, required: ['zone']},
  };
  return {
    name: 'clock',
    has: tool => tool === TOOL,
    list: ({capabilities}) => (capabilities.includes(TOOL) ? [offer] : []),
    async prepare({arguments: text, capabilities, policy}, {signal}) {
      if (!capabilities.includes(TOOL)) return {refused: failure('NOT_ALLOWED', `this agent may not use ${TOOL}`)};
      const verdict = policy.tools['*'] ?? 'ask';
      if (verdict === 'deny') return {refused: failure('DENIED', `${TOOL} is denied`)};
      let zone: unknown;
      try {
        zone = (JSON.parse(text) as {zone?: unknown} | null)?.zone;
      } catch {}
      if (typeof zone !== 'string') return {refused: failure('INVALID_ARGUMENTS', 'zone: expected a text')};
      return {
        effect: 'outside',
        asks: verdict === 'ask',
        readOnly: true,
        unconfined: false,
        ask: async () => ({
          type: 'network',
          title: `the time in ${zone}`,
          risk: {level: 'LOW', factors: []},
          why: ['the policy asks about it'],
          parts: [{label: 'Zone', text: `${zone}`}],
          basis: {},
          always: {none: 'it is a test'},
        }),
        execute: async () =>
          signal.aborted ? failure('INTERRUPTED', 'it was ended') : {success: true, time: `12:00 ${zone}`},
      };
    },
  };
}

toolProviderContract('built-in', () => builtInTools, {
  tool: 'create_directory',
  args: {path: 'new'},
  wrong: '{"path": 7}',
});
toolProviderContract('a second implementation', clockTools, {tool: TOOL, args: {zone: 'UTC'}, wrong: '{"zone": 7}'});
toolProviderContract('all providers as one', () => new Tools([builtInTools, clockTools()]), {
  tool: TOOL,
  args: {zone: 'UTC'},
  wrong: '{"zone": 7}',
});

describe('all providers as one', () => {
  const tools = new Tools([builtInTools, clockTools()]);
  const capabilities = ['list_directory', TOOL];

  it('offers the tools of each', async () => {
    const offers = await tools.list({capabilities, home: '/nowhere', settings: {}, env: {}});
    expect(offers.map(({name}) => name)).toEqual(capabilities);
  });

  it('names the tools that there are where none has the name', async () => {
    const {context} = toolHome();
    const call = {name: 'mcp__clock__tim', arguments: '{}', capabilities, policy: allowAll};
    expect(await tools.prepare(call, context)).toMatchObject({
      refused: {
        code: 'NOT_ALLOWED',
        error: `there is no tool "mcp__clock__tim" (did you mean ${TOOL}?); its tools are list_directory, ${TOOL}`,
      },
    });
  });
});
