// A model that answers "done" without reading what it is sent: node long-server.mjs prints its address.
import {createServer} from 'node:http';

const event = (delta, finish_reason = null) =>
  `data: ${JSON.stringify({id: 'x', object: 'chat.completion.chunk', created: 1, model: 'fake', choices: [{index: 0, delta, finish_reason}]})}\n\n`;
const answer = `${event({role: 'assistant', content: 'done'})}${event({}, 'stop')}data: ${JSON.stringify({id: 'x', object: 'chat.completion.chunk', created: 1, model: 'fake', choices: [], usage: {prompt_tokens: 1, completion_tokens: 1, total_tokens: 2}})}\n\ndata: [DONE]\n\n`;
const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, {'content-type': 'text/event-stream'});
    response.end(answer);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/v1`));
