// What OpenAI's server refuses about a chat request, so that a test sees it before a user does.

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const ID = /^[a-zA-Z0-9_-]{1,40}$/;

const parameters = new Set(
  `model messages stream stream_options tools tool_choice parallel_tool_calls temperature top_p max_tokens
  max_completion_tokens stop seed user n metadata response_format reasoning_effort`.split(/\s+/),
);

const keys = {
  system: ['role', 'content', 'name'],
  developer: ['role', 'content', 'name'],
  user: ['role', 'content', 'name'],
  assistant: ['role', 'content', 'name', 'tool_calls', 'refusal'],
  tool: ['role', 'content', 'tool_call_id'],
};

/**
 * The first thing wrong with a request, as the body of OpenAI's error.
 * @param {any} body
 * @returns {{message: string, type: string, param: string, code: string | null} | undefined}
 */
export function invalid(body) {
  const wrong = (param, message, code = null) => ({message, type: 'invalid_request_error', param, code});
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return wrong('', 'expected an object');
  for (const key of Object.keys(body))
    if (!parameters.has(key)) return wrong(key, `Unrecognized request argument supplied: ${key}`, 'unknown_parameter');
  if (typeof body.model !== 'string' || body.model === '') return wrong('model', 'you must provide a model parameter');
  if (body.stream !== undefined && typeof body.stream !== 'boolean') return wrong('stream', 'expected a boolean');
  if (body.stream_options !== undefined && body.stream !== true)
    return wrong('stream_options', "The 'stream_options' parameter is only allowed when 'stream' is enabled.");
  return (
    invalidTools(body.tools, wrong) ??
    invalidMessages(body.messages, wrong) ??
    (wellFormed(JSON.stringify(body)) ? undefined : wrong('messages', 'invalid Unicode: a lone surrogate'))
  );
}

function invalidTools(tools, wrong) {
  if (tools === undefined) return undefined;
  if (!Array.isArray(tools)) return wrong('tools', 'expected an array');
  if (tools.length === 0) return wrong('tools', "[] is too short - 'tools'");
  if (tools.length > 128) return wrong('tools', 'Array too long. Expected at most 128.');
  const names = new Set();
  for (const [index, tool] of tools.entries()) {
    const at = `tools[${index}]`;
    if (tool?.type !== 'function') return wrong(`${at}.type`, "expected 'function'");
    const {name, description, parameters: schema} = tool.function ?? {};
    if (typeof name !== 'string' || !NAME.test(name))
      return wrong(`${at}.function.name`, `does not match '${NAME.source}'`);
    if (names.has(name)) return wrong(`${at}.function.name`, 'Tool names must be unique.');
    names.add(name);
    if (description !== undefined && typeof description !== 'string')
      return wrong(`${at}.function.description`, 'string');
    if (schema !== undefined && (typeof schema !== 'object' || schema === null || schema.type !== 'object'))
      return wrong(
        `${at}.function.parameters`,
        `Invalid schema for function '${name}': schema must be of type "object"`,
      );
  }
  return undefined;
}

function invalidMessages(messages, wrong) {
  if (!Array.isArray(messages)) return wrong('messages', 'expected an array');
  if (messages.length === 0) return wrong('messages', "[] is too short - 'messages'");
  const ids = new Set();
  /** Calls whose results must come next. @type {string[]} */
  let open = [];
  for (const [index, message] of messages.entries()) {
    const at = `messages.[${index}]`;
    if (typeof message !== 'object' || message === null) return wrong(at, 'expected an object');
    const {role, content} = message;
    if (!Object.hasOwn(keys, String(role))) return wrong(`${at}.role`, `Invalid value: '${role}'.`);
    for (const key of Object.keys(message))
      if (!keys[role].includes(key)) return wrong(`${at}.${key}`, `Additional properties are not allowed ('${key}')`);
    const nothing = role === 'assistant' && (content === null || content === undefined);
    if (typeof content !== 'string' && !nothing) return wrong(`${at}.content`, 'Invalid type: expected a string');
    if (role === 'assistant' && !message.tool_calls && !content)
      return wrong(`${at}.content`, 'expected a string, got null');
    if ((role === 'user' || role === 'system') && content.trim() === '') return wrong(`${at}.content`, 'empty content');

    if (role === 'tool') {
      const id = message.tool_call_id;
      if (open.length === 0 && !ids.has(id))
        return wrong(
          `${at}.role`,
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        );
      if (!open.includes(id))
        return wrong(`${at}.tool_call_id`, `Invalid 'tool_call_id': ${id} was not called, or was answered`);
      // OpenAI takes any order; ours is that of the calls.
      if (open[0] !== id) return wrong(`${at}.tool_call_id`, 'results are in another order than their calls');
      open = open.slice(1);
      continue;
    }
    if (open.length > 0) return wrong(`${at}.role`, unanswered(open));
    if (role !== 'assistant' || message.tool_calls === undefined) continue;
    if (!Array.isArray(message.tool_calls) || message.tool_calls.length === 0)
      return wrong(`${at}.tool_calls`, "[] is too short - 'messages.tool_calls'");
    for (const [n, call] of message.tool_calls.entries()) {
      const place = `${at}.tool_calls[${n}]`;
      if (call?.type !== 'function') return wrong(`${place}.type`, "expected 'function'");
      if (typeof call.id !== 'string' || !ID.test(call.id))
        return wrong(`${place}.id`, `does not match '${ID.source}'`);
      if (ids.has(call.id)) return wrong(`${place}.id`, `Duplicate value for 'tool_call_id' of '${call.id}'`);
      ids.add(call.id);
      open.push(call.id);
      if (typeof call.function?.name !== 'string' || !NAME.test(call.function.name))
        return wrong(`${place}.function.name`, `does not match '${NAME.source}'`);
      if (!isObject(call.function.arguments))
        return wrong(`${place}.function.arguments`, 'expected the JSON of an object');
    }
  }
  return open.length > 0 ? wrong('messages', unanswered(open)) : undefined;
}

function unanswered(ids) {
  return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(', ')}`;
}

function isObject(text) {
  if (typeof text !== 'string') return false;
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** JSON.stringify escapes halves of surrogate pairs, and those only. */
function wellFormed(json) {
  return !/(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(json);
}
