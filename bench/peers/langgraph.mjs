// node langgraph.mjs URL FOLDER CONVERSATIONS TURNS: a graph of a model and its tools, as LangGraph's guide has it, with its SQLite
// checkpointer. Then, in a new connection, what is kept of the last conversation.
import {join} from 'node:path';
import {tool} from '@langchain/core/tools';
import {MessagesAnnotation, START, StateGraph} from '@langchain/langgraph';
import {ToolNode, toolsCondition} from '@langchain/langgraph/prebuilt';
import {SqliteSaver} from '@langchain/langgraph-checkpoint-sqlite';
import {ChatOpenAI} from '@langchain/openai';
import {z} from 'zod';
import {converse, INSTRUCTIONS, RESULT, TOOL} from './conversation.mjs';

const [url, folder, conversations, turns] = process.argv.slice(2);
const tools = [tool(() => RESULT, {...TOOL, schema: z.object({agent: z.string()})})];
const model = new ChatOpenAI({model: 'fake', apiKey: 'none', maxRetries: 0, configuration: {baseURL: url}}).bindTools(
  tools,
);

const compiled = () =>
  new StateGraph(MessagesAnnotation)
    .addNode('agent', async ({messages}) => ({
      messages: [await model.invoke([{role: 'system', content: INSTRUCTIONS}, ...messages])],
    }))
    .addNode('tools', new ToolNode(tools))
    .addEdge(START, 'agent')
    .addConditionalEdges('agent', toolsCondition)
    .addEdge('tools', 'agent')
    .compile({checkpointer: SqliteSaver.fromConnString(join(folder, 'langgraph.sqlite'))});
const config = id => ({configurable: {thread_id: id}});

const graph = compiled();
const result = await converse(Number(conversations), Number(turns), id => async question => {
  const {messages} = await graph.invoke({messages: [{role: 'user', content: question}]}, config(id));
  return {answer: messages.at(-1).content};
});
const {messages} = (await compiled().getState(config(`conversation-${conversations}`))).values;
console.log(JSON.stringify({...result, kept: messages.length, last: messages.at(-1).content}));
