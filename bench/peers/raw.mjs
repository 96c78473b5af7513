// node raw.mjs URL FOLDER CONVERSATIONS TURNS: the openai package in a loop. Nothing is kept but in memory.
import OpenAI from 'openai';
import {converse, INSTRUCTIONS, RESULT, TOOL} from './conversation.mjs';

const [url, , conversations, turns] = process.argv.slice(2);
const client = new OpenAI({baseURL: url, apiKey: 'none', maxRetries: 0});
const parameters = {type: 'object', properties: {agent: {type: 'string'}}, required: ['agent']};
const tools = [{type: 'function', function: {...TOOL, parameters}}];

const result = await converse(Number(conversations), Number(turns), () => {
  const messages = [{role: 'system', content: INSTRUCTIONS}];
  return async question => {
    messages.push({role: 'user', content: question});
    for (;;) {
      const {choices} = await client.chat.completions.create({model: 'fake', messages, tools});
      const message = choices[0].message;
      messages.push(message);
      if (!message.tool_calls) return {answer: message.content};
      for (const {id} of message.tool_calls) messages.push({role: 'tool', tool_call_id: id, content: RESULT});
    }
  };
});
console.log(JSON.stringify(result));
