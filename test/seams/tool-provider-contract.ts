import {describe, expect, it} from 'vitest';
import type {ToolContext} from '../../src/effects/tool/tool.ts';
import type {ToolProvider, WantedCall} from '../../src/effects/tools/provider.ts';
import {emptyPolicy} from '../../src/formats/rule.ts';
import {allowAll, askAll, toolHome} from '../effects/tool-home.ts';

/** A tool of the provider, with arguments that fit it and some that do not. */
export interface ToolSample {
  tool: string;
  args: object;
  wrong: string;
}

/** What the daemon relies on, whoever provides the tools. */
export function toolProviderContract(name: string, make: () => ToolProvider, {tool, args, wrong}: ToolSample): void {
  const agent = {capabilities: [tool], home: '/nowhere', settings: {}, env: {}};
  const call = (changes: Partial<WantedCall> = {}): WantedCall => ({
    ...{name: tool, arguments: JSON.stringify(args), capabilities: [tool], policy: allowAll},
    ...changes,
  });
  const prepare = (changes: Partial<WantedCall> = {}, context: Partial<ToolContext> = {}) =>
    make().prepare(call(changes), toolHome(context).context);

  describe(`the contract of a tool provider: ${name}`, () => {
    it('lists what an agent may use, each once, with a schema; and nothing else', async () => {
      const provider = make();
      const offers = await provider.list(agent);
      expect(offers.map(offer => offer.name)).toEqual([tool]);
      expect(offers[0]).toMatchObject({description: expect.stringMatching(/\S/), parameters: {type: 'object'}});
      expect(await provider.list({...agent, capabilities: []})).toEqual([]);
      expect(await provider.list({...agent, capabilities: [tool, tool]})).toHaveLength(1);
    });

    it('has its own tools, and no others', () => {
      expect(make().has(tool)).toBe(true);
      expect(make().has('no_such_tool')).toBe(false);
      expect(make().has('')).toBe(false);
    });

    it('runs what the policy allows; the result is JSON', async () => {
      const ready = await prepare();
      if ('refused' in ready) throw new Error(JSON.stringify(ready.refused));
      expect(ready.asks).toBe(false);
      const result = await ready.execute();
      expect(result.success).toBe(true);
      expect(JSON.parse(JSON.stringify(result))).toEqual(result);
    });

    it('asks where the policy says so, and shows a person what it is about', async () => {
      const ready = await prepare({policy: askAll});
      if ('refused' in ready) throw new Error(JSON.stringify(ready.refused));
      expect(ready.asks).toBe(true);
      const ask = await ready.ask();
      if ('success' in ask) throw new Error(ask.error);
      expect(ask.title).toMatch(/\S/);
      expect(ask.why.length).toBeGreaterThan(0);
    });

    it('refuses what the policy denies, what the agent may not use, and arguments that do not fit', async () => {
      const denied = {...emptyPolicy, tools: {'*': 'deny' as const}};
      expect(await prepare({policy: denied})).toMatchObject({refused: {success: false, code: 'DENIED'}});
      expect(await prepare({capabilities: []})).toMatchObject({refused: {success: false, code: 'NOT_ALLOWED'}});
      for (const text of [wrong, '{', '', 'null', '[]'])
        expect(await prepare({arguments: text}), text).toMatchObject({refused: {code: 'INVALID_ARGUMENTS'}});
    });

    it('does not run a call that was ended before it began', async () => {
      const ready = await prepare({}, {signal: AbortSignal.abort(new Error('the daemon was stopped'))});
      if ('refused' in ready) throw new Error(JSON.stringify(ready.refused));
      expect(await ready.execute()).toMatchObject({success: false});
    });
  });
}
