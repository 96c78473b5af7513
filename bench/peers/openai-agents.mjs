// node openai-agents.mjs URL FOLDER CONVERSATIONS TURNS: an agent of @openai/agents with a session of one's own, as its guide has it:
// items as rows of an SQLite file. Then, in a new connection, what is kept of the last conversation.
import {join} from 'node:path';
import {Agent, run, setDefaultOpenAIClient, setOpenAIAPI, setTracingDisabled, tool} from '@openai/agents';
import Database from 'better-sqlite3';
import OpenAI from 'openai';
import {z} from 'zod';
import {converse, INSTRUCTIONS, RESULT, TOOL} from './conversation.mjs';

const [url, folder, conversations, turns] = process.argv.slice(2);
setDefaultOpenAIClient(new OpenAI({baseURL: url, apiKey: 'none', maxRetries: 0}));
setOpenAIAPI('chat_completions');
setTracingDisabled(true);

function openDatabase() {
  const db = new Database(join(folder, 'openai-agents.sqlite'));
  db.pragma('journal_mode = WAL');
  db.exec('CREATE TABLE IF NOT EXISTS items (n INTEGER PRIMARY KEY, session TEXT NOT NULL, item TEXT NOT NULL)');
  db.exec('CREATE INDEX IF NOT EXISTS by_session ON items (session, n)');
  return db;
}

function sessionIn(db, id) {
  const add = db.prepare('INSERT INTO items (session, item) VALUES (?, ?)');
  const addAll = db.transaction(items => {
    for (const item of items) add.run(id, JSON.stringify(item));
  });
  const last = db.prepare('SELECT n, item FROM items WHERE session = ? ORDER BY n DESC LIMIT ?');
  return {
    getSessionId: async () => id,
    getItems: async (limit = -1) =>
      last
        .all(id, limit)
        .reverse()
        .map(({item}) => JSON.parse(item)),
    addItems: async items => addAll(items),
    popItem: async () => {
      const [row] = last.all(id, 1);
      if (!row) return undefined;
      db.prepare('DELETE FROM items WHERE n = ?').run(row.n);
      return JSON.parse(row.item);
    },
    clearSession: async () => void db.prepare('DELETE FROM items WHERE session = ?').run(id),
  };
}

const agent = new Agent({
  name: 'bench',
  instructions: INSTRUCTIONS,
  model: 'fake',
  tools: [tool({...TOOL, parameters: z.object({agent: z.string()}), execute: async () => RESULT})],
});
const db = openDatabase();
const result = await converse(Number(conversations), Number(turns), id => {
  const session = sessionIn(db, id);
  return async question => ({answer: (await run(agent, question, {session})).finalOutput});
});
db.close();
const items = await sessionIn(openDatabase(), `conversation-${conversations}`).getItems();
console.log(JSON.stringify({...result, kept: items.length, last: items.at(-1).content[0].text}));
