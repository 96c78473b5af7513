import {createInterface, type Interface} from 'node:readline';
import {exit, UserError} from '../../formats/common/errors.ts';
import {stemOf} from '../../formats/common/key.ts';
import {makeVisible, visibleLine} from '../../formats/common/visible.ts';
import type {Message} from '../../formats/session/session-schema.ts';
import {parseSettings} from '../../formats/settings.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {readHomeFile} from '../../home/read.ts';
import {listSessions, type SessionFile} from '../../home/session-files.ts';
import {daemonOf} from '../../home/status.ts';
import {listInstances, readInstance, statusOf} from '../actions/instances/instances.ts';
import {cancelTurn} from '../actions/sessions/change-status.ts';
import {errorOf} from '../actions/talk/answer.ts';
import {agentName, templates} from '../actions/talk/find-agent.ts';
import {findSharedSession, readSession} from '../actions/talk/find-session.ts';
import {makeSession} from '../actions/talk/make-session.ts';
import {agentNamed} from '../actions/talk/read-agent.ts';
import {redactMessage} from '../actions/talk/redact-message.ts';
import {type SentMessage, writeMessage} from '../actions/talk/write-message.ts';
import {readChannel, sendToChannel} from '../actions/workflows/channel.ts';
import {complete, type KnownNames} from '../chat/complete.ts';
import {byIdOrPart, readIntent} from '../chat/grammar.ts';
import {addInput, readInputs} from '../chat/input-history.ts';
import type {ChatServices} from '../chat/services.ts';
import {slashCommand, slashCommands} from '../chat/slash-commands.ts';
import {complain, note, print, printWhole, screenWidth, shortCall} from '../terminal/output.ts';
import {breakAt} from '../terminal/table.ts';
import type {AnswerScreen} from './answer-screen.ts';
import {reportReplaced} from './given-text.ts';
import {knownNames} from './known-names.ts';
import {waitWithPerson} from './send.ts';
import type {AnswerWaitResult} from './wait.ts';

/** How long the daemon may take to wake agents, and how often to look. */
const SEEN_MS = 1_000;
const LOOK_MS = 100;
/** Lines that come within this time were pasted together. */
const PASTED_MS = 40;

/**
 * Chat without a screen: the same grammar, one line at a time, each answered before the next. For pipes, dumb terminals and screen readers.
 * Lines of agents are indented, lines of chat are not.
 */
export async function lineChat(services: ChatServices): Promise<number> {
  const chat = new LineChat(services);
  if (!process.stdin.isTTY) {
    for await (const line of createInterface({input: process.stdin})) if (!(await chat.take(line))) break;
    return chat.exitCode;
  }
  if (!isServed(services.home)) await chat.offerDaemon();
  print(`talking to @${chat.agent}. /help lists commands; Ctrl-D leaves`);
  for (;;) {
    const text = await chat.ask(`@${chat.agent}> `);
    if (text === undefined || !(await chat.take(text))) break;
  }
  note(
    isServed(services.home)
      ? 'the daemon keeps running; to stop it: agentdir stop'
      : 'no daemon is running: agentdir start',
  );
  return exit.done;
}

function isServed(home: string): boolean {
  return daemonOf(nodeDisk(home)) !== undefined;
}

class LineChat {
  agent: string;
  exitCode: number = exit.done;
  readonly #services: ChatServices;
  readonly #home: string;
  /** The session of the active agent, if it is not its shared one. */
  #session: SessionFile | undefined;
  /** The workflow instance whose channel messages go to, in place of an agent. */
  #channel: string | undefined;

  constructor(services: ChatServices) {
    this.#services = services;
    this.#home = services.home;
    this.agent = firstAgent(services.home);
  }

  /** Does what a line says. False: leave. */
  async take(line: string): Promise<boolean> {
    try {
      const intent = readIntent(line);
      if (intent.do === 'refuse') throw new UserError(intent.why, exit.usage, intent.hint);
      if (intent.do === 'say' && this.#channel !== undefined) await this.#post(this.#channel, intent.text);
      else if (intent.do === 'say') await this.#send(this.agent, intent.text);
      else if (intent.do === 'ask' && this.#channel !== undefined && this.#isMember(this.#channel, intent.agent))
        await this.#post(this.#channel, line.trim());
      else if (intent.do === 'ask') await this.#send(agentName(this.#home, intent.agent), intent.text);
      else if (intent.do === 'delegate') await this.#delegate(intent.agent, intent.text);
      else if (intent.do === 'switch') this.#switch(intent.to);
      else if (intent.do === 'command') {
        if (intent.name === 'quit' || intent.name === 'exit') return false;
        await this.#command(intent.name, intent.args, intent.rest);
      }
      if (process.stdin.isTTY && intent.do !== 'nothing') addInput(this.#home, line);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      this.#worse(exit.failed);
      complain(error.message, error.hint);
    }
    return true;
  }

  async offerDaemon(): Promise<void> {
    const answer = await this.ask('No daemon is running, so nobody answers. Start it in the background? [Y/n] ');
    if (answer === undefined || !/^\s*(?:y(?:es)?)?\s*$/i.test(answer)) return;
    try {
      await this.#services.startDaemon();
      print('the daemon serves this home in the background; to stop it: agentdir stop');
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      complain(error.message, error.hint);
    }
  }

  /** Reads a line, or several that were pasted together. Undefined: the person leaves. */
  ask(prompt: string): Promise<string | undefined> {
    const lines = createInterface({
      ...{input: process.stdin, output: process.stdout, terminal: true, prompt},
      history: readInputs(this.#home).reverse(),
      completer: (text: string) => this.#completions(text),
    });
    return new Promise(resolve => {
      const given: string[] = [];
      let timer: NodeJS.Timeout | undefined;
      let isOver = false;
      const end = (text: string | undefined) => {
        isOver = true;
        clearTimeout(timer);
        // Its own listeners must hear that, or this terminal would show each key of the next line twice.
        lines.close();
        resolve(text);
      };
      lines.on('line', line => {
        given.push(line);
        clearTimeout(timer);
        timer = setTimeout(() => {
          // The rest of what was pasted waits for Enter.
          if ((lines as Interface & {line: string}).line === '') end(given.join('\n'));
        }, PASTED_MS);
      });
      lines.on('SIGINT', () => {
        print('');
        end(undefined);
      });
      lines.on('close', () => {
        if (isOver) return;
        print('');
        end(given.length > 0 ? given.join('\n') : undefined);
      });
      lines.prompt();
    });
  }

  #completions(text: string): [string[], string] {
    const done = complete(text, text.length, this.#names());
    if (!done) return [[], text];
    const [word = ''] = /\S*$/.exec(text) ?? [];
    const start = text.slice(0, text.length - word.length);
    return [done.options.length > 0 ? [...done.options] : [done.text.slice(start.length)], word];
  }

  #names(): KnownNames {
    const named = (kind: 'agent' | 'approval') => knownNames(this.#home, kind).map(({name}) => name);
    return {
      agents: named('agent'),
      approvals: named('approval'),
      sessions: listSessions(this.#home).map(({id}) => id),
      channels: listInstances(this.#home).map(({instance}) => instance),
    };
  }

  #worse(code: number): void {
    const order: number[] = [exit.done, exit.daemon, exit.waiting, exit.failed];
    if (order.indexOf(code) > order.indexOf(this.exitCode)) this.exitCode = code;
  }

  async #send(agent: string, text: string): Promise<void> {
    const {content, replaced} = redactMessage(this.#home, text);
    reportReplaced(replaced);
    const session = agent === this.agent ? this.#session?.id : undefined;
    const sent = await writeMessage({
      home: this.#home,
      content,
      session,
      agent: session === undefined ? agent : undefined,
    });
    await this.#answer(agent, sent);
  }

  async #delegate(agent: string | undefined, text: string): Promise<void> {
    const to = agent === undefined ? this.agent : agentName(this.#home, agent);
    const {content, replaced} = redactMessage(this.#home, text);
    reportReplaced(replaced);
    const {code, text: said} = await this.#services.run(
      ['send', content, '--to', to, '--task', '--wait'],
      screenWidth(),
    );
    if (code !== exit.done) this.#worse(code);
    print(`@${to} (task):`);
    printWhole(indented(said.trimEnd()));
  }

  async #answer(agent: string, sent: SentMessage): Promise<void> {
    if (!isServed(this.#home)) {
      this.#worse(exit.daemon);
      note(`the message is in ${sent.path}, but no daemon is running: agentdir start`);
      return;
    }
    const leaving = new AbortController();
    const leave = () => leaving.abort();
    const isTerminal = Boolean(process.stdin.isTTY && process.stdout.isTTY);
    if (isTerminal) process.once('SIGINT', leave);
    const waited = await waitWithPerson(
      {
        ...{home: this.#home, file: sent, screen: lineScreen(agent), timeoutMs: undefined, signal: leaving.signal},
        asked: {message: sent.message, segments: sent.segments},
      },
      isTerminal,
    ).finally(() => process.off('SIGINT', leave));
    this.#report(agent, sent, waited);
  }

  #report(agent: string, {id}: SentMessage, {over, header, requests}: AnswerWaitResult): void {
    switch (over) {
      case 'answered':
        return;
      case 'left':
        print(`@${agent} goes on; its answer: /show ${id}; to end its turn: /cancel`);
        return;
      case 'waiting':
        this.#worse(exit.waiting);
        for (const request of requests) print(`@${agent} waits for your approval: agentdir approvals ${request.id}`);
        if (requests.length === 0) print(`@${agent} waits: agentdir show ${id}`);
        return;
      case 'paused':
        this.#worse(exit.waiting);
        print(`@${agent} is paused: agentdir resume ${id}`);
        return;
      case 'stopped':
        this.#worse(exit.waiting);
        print(`@${agent} is stopped: agentdir agents start ${agent}`);
        return;
      case 'no-daemon':
        this.#worse(exit.daemon);
        complain('the daemon stopped before the answer came', 'start it again: agentdir start');
        return;
      default:
        this.#worse(exit.failed);
        complain(
          over === 'error' && header
            ? `@${agent} is in error: ${errorOf(header)}`
            : `@${agent} did not answer (${over})`,
        );
    }
  }

  #isMember(instance: string, agent: string): boolean {
    return Object.hasOwn(readInstance(this.#home, instance).agents, agent);
  }

  /** Appends an entry to a channel and prints what follows, until the agents of the instance are at rest. */
  async #post(instance: string, text: string): Promise<void> {
    const {content, replaced} = redactMessage(this.#home, text);
    reportReplaced(replaced);
    const {n, wakes, unknown} = await sendToChannel(this.#home, instance, {text: content});
    for (const name of unknown) note(`nobody in ${instance} is called ${name}`);
    if (wakes.length === 0) return;
    if (!isServed(this.#home)) {
      this.#worse(exit.daemon);
      note(`the entry is in the channel, but no daemon is running: agentdir start`);
      return;
    }
    let given = n;
    let status = 'running';
    // A daemon that has not seen the entry yet calls the instance idle.
    for (const end = performance.now() + SEEN_MS; status === 'running' || performance.now() < end; ) {
      await new Promise(resolve => setTimeout(resolve, LOOK_MS));
      status = statusOf(readInstance(this.#home, instance));
      for (const entry of readChannel(this.#home, instance, {since: String(given)}).entries) {
        given = entry.n;
        print(`${visibleLine(entry.from)}:`);
        printWhole(indented(makeVisible(entry.text, false)));
      }
      if (!isServed(this.#home)) break;
    }
    if (status === 'waiting' || status === 'failed') {
      this.#worse(status === 'failed' ? exit.failed : exit.waiting);
      print(`${instance} is ${status}: agentdir list`);
    }
  }

  async #command(name: string, args: readonly string[], rest: string): Promise<void> {
    switch (name) {
      case 'help':
        for (const {usage, about} of slashCommands) print(`${usage.padEnd(20)}  ${about}`);
        print('@agent TEXT           ask an agent\n@agent /task TEXT     delegate a task to it');
        return;
      case 'switch':
        return this.#switch(rest);
      case 'new': {
        const agent = agentNamed(this.#home, this.agent);
        this.#session = await makeSession({home: this.#home, agent, shared: false, now: new Date().toISOString()});
        print(`new session ${this.#session.id}`);
        return;
      }
      case 'cancel': {
        const file = this.#file();
        const {changed} = file ? await cancelTurn(this.#home, file) : {changed: false};
        print(changed ? 'cancelled; the next message wakes the session' : `@${this.agent} is not at work`);
        return;
      }
      case 'start':
        if (isServed(this.#home)) return print('the daemon is running');
        await this.#services.startDaemon();
        print('the daemon serves this home in the background');
        return;
      case 'details':
        return this.#run(['show', ...this.#withSession('show', [])]);
      case 'reject':
        return this.#run(['reject', ...args.slice(0, 1), '--reason', args.slice(1).join(' ')]);
      default:
        return this.#run([name, ...this.#withSession(name, name === 'tasks' && rest !== '' ? [rest] : args)]);
    }
  }

  #switch(to: string): void {
    if (to === '') {
      for (const {name} of knownNames(this.#home, 'agent')) print(name === this.agent ? `${name} (active)` : name);
      return;
    }
    this.#channel = undefined;
    if (to.startsWith('#')) {
      this.#channel = readInstance(this.#home, to.slice(1)).instance;
      print(`writing to the channel of ${this.#channel}; @NAME wakes an agent`);
      return;
    }
    const session = this.#sessionNamed(to);
    this.agent = session?.agent ?? agentName(this.#home, to);
    this.#session = session?.file;
    print(`talking to @${this.agent}${session ? ` in ${session.file.id}` : ''}`);
  }

  /** A session by its id or a unique part of it, unless an agent has that name. */
  #sessionNamed(name: string): {file: SessionFile; agent: string} | undefined {
    if (name.startsWith('@') || knownNames(this.#home, 'agent').some(agent => agent.name === name)) return undefined;
    const file = byIdOrPart(listSessions(this.#home), name);
    const found = file && readSession(this.#home, file);
    return found && {file, agent: found.header.agent_id};
  }

  #file(): SessionFile | undefined {
    return this.#session ?? findSharedSession(this.#home, this.agent);
  }

  #withSession(name: string, args: readonly string[]): readonly string[] {
    const id = this.#file()?.id;
    const hasNone = args[0]?.startsWith('-') ?? true;
    return slashCommand(name)?.runs === 'session' && hasNone && id !== undefined ? [id, ...args] : args;
  }

  async #run(args: readonly string[]): Promise<void> {
    const width = screenWidth();
    const {text, code} = await this.#services.run(args, Number.isFinite(width) ? width : 1_000_000);
    if (code === exit.failed || code === exit.usage) this.#worse(exit.failed);
    printWhole(text.trimEnd());
  }
}

/** The default agent; where none is named, the first, as on the screen. A wrong name is an error: nobody else gets its messages. */
function firstAgent(home: string): string {
  try {
    return agentName(home, undefined);
  } catch (error) {
    const [first] = templates(home);
    if (!(error instanceof UserError) || first === undefined || namesDefault(home)) throw error;
    return stemOf(first);
  }
}

function namesDefault(home: string): boolean {
  const read = readHomeFile(nodeDisk(home), 'agentdir.yaml');
  if (!read || !('text' in read)) return true;
  const {value} = parseSettings(read.text);
  return value === undefined || value.default_agent !== undefined;
}

/** Whole replies, each line indented, calls as a line each. */
function lineScreen(agent: string): AnswerScreen {
  return {
    live: event => {
      if (event.event === 'retry') note(`@${agent}: ${visibleLine(event.why)}; asked again`);
    },
    reply: ({content, tool_calls = []}: Message) => {
      print(`@${visibleLine(agent)}:`);
      if (content) printWhole(indented(makeVisible(content.trimEnd(), false)));
      for (const {function: call} of tool_calls)
        printWhole(indented(`→ ${makeVisible(shortCall(call.name, call.arguments))}`));
    },
    finish: () => {},
  };
}

/** On a terminal also lines that it would break itself. */
function indented(text: string): string {
  const width = screenWidth();
  const rows = text
    .split('\n')
    .flatMap(line => (Number.isFinite(width) ? breakAt(line, Math.max(8, width - 2), true) : [line]));
  return rows.map(row => (row === '' ? '' : `  ${row}`)).join('\n');
}
