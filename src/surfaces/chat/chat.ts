import {exit, UserError} from '../../formats/common/errors.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import {fieldOf} from '../../formats/task/task.ts';
import {followLive} from '../../home/live-read.ts';
import type {SessionFile} from '../../home/session-files.ts';
import {type Request, readQueue, requestOf} from '../actions/decide/queue.ts';
import {cancelTurn} from '../actions/sessions/change-status.ts';
import {type AskedMessage, answerText, errorOf, progressOf} from '../actions/talk/answer.ts';
import {agentName} from '../actions/talk/find-agent.ts';
import {readSession} from '../actions/talk/find-session.ts';
import {makeSession} from '../actions/talk/make-session.ts';
import {agentNamed} from '../actions/talk/read-agent.ts';
import {redactMessage} from '../actions/talk/redact-message.ts';
import {writeMessage} from '../actions/talk/write-message.ts';
import {colors} from '../terminal/output.ts';
import type {KnownNames} from './complete.ts';
import {Conversation} from './conversation.ts';
import {answerEntry, type Entry, errorEntry, headingEntry, noticeEntry, outputEntry} from './entries.ts';
import {type Intent, readIntent} from './grammar.ts';
import {HomeView, type SessionState} from './home-view.ts';
import type {ChatServices} from './services.ts';
import {type Choice, decideShown, type ShownRequest, showRequest} from './shown-request.ts';
import {KEYS_HELP, slashCommand, slashCommands} from './slash-commands.ts';
import type {AgentMark, Bar, BarTab} from './status-bar.ts';

/** A message that was sent to an agent whose conversation is not on the screen. */
interface Awaited {
  agent: string;
  file: SessionFile;
  asked: AskedMessage;
}

/** How long the daemon may take to be seen after its start. */
const SEEN_MS = 10_000;

/**
 * The model of chat, without a screen: which agent is active, what is on its way, which request is to be decided. It reads files and live
 * output, and writes through `actions` only, so several chats and editors may work on the same home.
 */
export class Chat {
  readonly home: string;
  readonly view: HomeView;
  /** The name of the active agent. */
  agent: string;
  conversation: Conversation | undefined;
  /** The request to be decided, as it was shown. */
  shown: ShownRequest | undefined;
  /** What is being done, such as sending. */
  busy: string | undefined;
  isOver = false;
  /** Receives what is to be added to the history on the screen. */
  onEntry: (entry: Entry) => void = () => {};
  /** Called when the rest of the screen may have changed. */
  onChange: () => void = () => {};
  readonly #services: ChatServices;
  /** Agents that finished while others were on the screen. */
  readonly #finished = new Set<string>();
  readonly #working = new Set<string>();
  #awaited: Awaited[] = [];
  #follow: AbortController | undefined;
  #width = 80;
  /** The session of each agent, if it is not its shared one. */
  readonly #chosen = new Map<string, string>();
  #wasServed: boolean | undefined;

  constructor(services: ChatServices) {
    this.#services = services;
    this.home = services.home;
    this.view = new HomeView(services.home);
    this.view.begin();
    this.agent = defaultAgent(this.home, this.view.agents);
  }

  /** Reads conversations and follows what changes. */
  async start(): Promise<void> {
    this.view.onChange = paths => this.#changed(paths);
    await this.view.follow();
    this.#wasServed = this.view.isServed;
    this.#open();
    this.#nextRequest();
    this.onChange();
  }

  close(): void {
    this.isOver = true;
    this.#follow?.abort();
    this.view.close();
  }

  set width(columns: number) {
    this.#width = columns;
  }

  get bar(): Bar {
    const tabs = this.tabs();
    const tasks = {working: 0, done: 0, failed: 0};
    for (const {task} of this.view.tasks)
      if (task.state === 'in_progress') tasks.working++;
      else if (task.state === 'completed') tasks.done++;
      else if (task.state === 'blocked') tasks.failed++;
    return {
      tabs,
      active: Math.max(
        0,
        tabs.findIndex(({name}) => name === this.agent),
      ),
      tasks,
      approvals: this.view.requests.length,
    };
  }

  /** The default agent first, then the others by name, then agents of workflows. */
  tabs(): BarTab[] {
    const states = new Map<string, SessionState[]>();
    for (const session of this.view.sessions.values())
      states.set(session.agent, [...(states.get(session.agent) ?? []), session]);
    const known = new Set(this.view.agents);
    const others = [...states.keys()].filter(name => !known.has(name) && name.includes('@')).sort();
    const first = defaultAgent(this.home, this.view.agents);
    const names = [first, ...[...known].filter(name => name !== first).sort(), ...others].filter(name => name !== '');
    const asking = new Set(this.view.requests.map(request => request.session));
    const ended = this.#endedTasks();
    return names
      .filter(name => name === this.agent || !isGone(states.get(name)))
      .map(name => ({name, mark: this.#markOf(name, states.get(name) ?? [], asking, ended)}));
  }

  names(): KnownNames {
    return {
      agents: this.tabs().map(({name}) => name),
      sessions: [...this.view.sessions.values()].map(({id}) => id),
      approvals: this.view.requests.map(({id}) => id),
      channels: this.view.channels.map(({instance}) => instance),
    };
  }

  /** Whether the active session is asked, runs something or waits. */
  get isWorking(): boolean {
    const status = this.conversation?.header?.status;
    return status === 'active' || status === 'waiting';
  }

  /** Messages that were sent elsewhere and have no answer yet. */
  get awaited(): readonly {agent: string; status: string}[] {
    return this.#awaited.map(({agent, file}) => ({agent, status: this.view.sessions.get(file.path)?.status ?? ''}));
  }

  /** Does what a line says. False: nothing was done, and the line should stay in the prompt. */
  async submit(line: string): Promise<boolean> {
    try {
      return await this.#do(readIntent(line));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      this.onEntry(errorEntry(error.message, error.hint));
      return false;
    } finally {
      this.busy = undefined;
      this.onChange();
    }
  }

  /** Ends the turn of the active session. */
  async cancel(): Promise<void> {
    const file = this.conversation?.file;
    if (!file || !this.isWorking) return;
    await this.#attempt(async () => {
      const {changed} = await cancelTurn(this.home, file);
      if (changed) this.onEntry(noticeEntry('cancelled; the next message wakes the session', colors.yellow));
      this.view.refresh(file.path);
    });
  }

  /** Decides about the request on the screen. */
  async decide(choice: Choice): Promise<void> {
    const shown = this.shown;
    if (!shown) return;
    await this.#attempt(async () => {
      const why = choice.yes ? await this.#services.refusal() : undefined;
      if (why !== undefined) throw new UserError(why, exit.usage, `agentdir approve ${shown.request.id} --sign`);
      if (showRequest(this.home, shown.request).mark !== shown.mark)
        throw new UserError(`${shown.request.id} was changed while you decided; look at it again`);
      await decideShown(this.home, shown, choice);
      const what = choice.yes ? ('answer' in choice ? 'answered' : 'approved') : 'rejected';
      this.onEntry(
        noticeEntry(`${choice.yes ? '✓' : '✗'} ${what} ${shown.request.id}`, choice.yes ? colors.green : colors.red),
      );
      this.shown = undefined;
    });
    this.view.refresh('tasks/approvals.task.md');
  }

  /** Switches to the agent at a place of the status bar, or by a step. */
  switchBy(place: {index: number} | {step: number}): void {
    const tabs = this.tabs();
    const at = tabs.findIndex(({name}) => name === this.agent);
    const index = 'index' in place ? place.index : (at + place.step + tabs.length) % tabs.length;
    const tab = tabs[index];
    if (tab) this.switchTo(tab.name);
  }

  switchTo(name: string, session?: string): void {
    if (session === undefined) this.#chosen.delete(name);
    else this.#chosen.set(name, session);
    if (
      name === this.agent &&
      this.conversation &&
      session === undefined &&
      this.conversation.file.path === this.#pathOf(name)
    )
      return;
    this.agent = name;
    this.#finished.delete(name);
    this.#open(true);
    this.onChange();
  }

  async newSession(): Promise<void> {
    await this.#attempt(async () => {
      const agent = agentNamed(this.home, templateOf(this.agent));
      const file = await makeSession({home: this.home, agent, shared: false, now: new Date().toISOString()});
      this.view.refresh(file.path);
      this.#chosen.set(this.agent, file.path);
      this.#open(true);
    });
  }

  async startDaemon(): Promise<void> {
    await this.#attempt(async () => {
      this.busy = 'starting the daemon';
      this.onChange();
      await this.#services.startDaemon();
      for (const end = performance.now() + SEEN_MS; performance.now() < end && !this.view.isServed; ) {
        this.view.refresh('agentdir.yaml');
        await new Promise(resolve => setTimeout(resolve, 20));
      }
      this.onEntry(
        noticeEntry('✓ the daemon serves this home in the background; to stop it: agentdir stop', colors.green),
      );
    });
  }

  showDetails(): void {
    const {conversation} = this;
    if (!conversation) return;
    conversation.isDetailed = !conversation.isDetailed;
    if (conversation.isDetailed) for (const entry of conversation.details()) this.onEntry(entry);
    this.onEntry(
      noticeEntry(
        conversation.isDetailed ? 'calls are shown with details; Ctrl+O folds them' : 'calls are folded again',
      ),
    );
  }

  async #do(intent: Intent): Promise<boolean> {
    switch (intent.do) {
      case 'nothing':
        return false;
      case 'refuse':
        throw new UserError(intent.why, exit.usage, intent.hint);
      case 'say':
        await this.#send(this.agent, intent.text);
        return true;
      case 'ask':
        await this.#send(this.#known(intent.agent), intent.text);
        return true;
      case 'delegate':
        await this.#delegate(intent.agent === undefined ? this.agent : this.#known(intent.agent), intent.text);
        return true;
      case 'switch':
        this.switchTo(this.#known(intent.to));
        return true;
      case 'command':
        await this.#command(intent.name, intent.args, intent.rest);
        return true;
    }
  }

  #known(name: string): string {
    return this.tabs().some(tab => tab.name === name) ? name : agentName(this.home, name);
  }

  async #send(agent: string, text: string): Promise<void> {
    this.busy = 'sending';
    this.onChange();
    const {content, replaced} = redactMessage(this.home, text);
    for (const {what} of replaced) this.onEntry(noticeEntry(`a ${what} was replaced before writing`, colors.yellow));
    const session = this.#sessionFor(agent);
    const sent = await writeMessage({
      home: this.home,
      content,
      session: session?.id,
      agent: session ? undefined : agent,
    });
    this.view.refresh(sent.path);
    if (agent === this.agent) {
      if (this.conversation?.file.path !== sent.path) this.#open();
      else this.#read();
    } else {
      this.#awaited.push({agent, file: sent, asked: {message: sent.message, segments: sent.segments}});
      this.onEntry(noticeEntry(`→ sent to @${agent} (ask): ${oneLine(content)}`));
    }
    if (!this.view.isServed)
      this.onEntry(noticeEntry('no daemon is running, so nobody answers yet: /start', colors.yellow));
    else if (sent.status === 'paused')
      this.onEntry(noticeEntry(`${sent.id} is paused: /resume ${sent.id}`, colors.yellow));
    else if (this.view.held.has(templateOf(agent)))
      this.onEntry(noticeEntry(`@${agent} is stopped: /agents start ${agent}`, colors.yellow));
  }

  async #delegate(agent: string, text: string): Promise<void> {
    this.busy = 'delegating';
    this.onChange();
    const {content} = redactMessage(this.home, text);
    const {code, text: said} = await this.#services.run(
      ['--json', 'send', content, '--to', agent, '--task'],
      this.#width,
    );
    const value = lastJson(said);
    if (code !== 0)
      throw new UserError(
        String(value?.error ?? lastLine(said)),
        exit.failed,
        value?.hint == null ? undefined : String(value.hint),
      );
    const [id, path] = [String(value?.session ?? ''), String(value?.path ?? '')];
    this.onEntry(noticeEntry(`→ sent to @${agent} (task): ${oneLine(content)}`));
    const message = value?.message as AskedMessage['message'] | undefined;
    if (path !== '') this.view.refresh(path);
    if (message && id !== '') this.#awaited.push({agent, file: {id, path}, asked: {message, segments: 0}});
  }

  async #command(name: string, args: readonly string[], rest: string): Promise<void> {
    switch (name) {
      case 'help':
        return this.onEntry(help());
      case 'quit':
      case 'exit':
        this.isOver = true;
        return;
      case 'new':
        return this.newSession();
      case 'cancel':
        return this.cancel();
      case 'details':
        return this.showDetails();
      case 'start':
        if (this.view.isServed) return this.onEntry(noticeEntry('the daemon is running'));
        return this.startDaemon();
      case 'switch':
        return this.#switch(rest);
      case 'reject':
        return this.#run(['reject', ...args.slice(0, 1), '--reason', args.slice(1).join(' ')]);
      default:
        return this.#run([name, ...this.#withSession(name, name === 'tasks' && rest !== '' ? [rest] : args)]);
    }
  }

  #switch(to: string): void {
    if (to === '') {
      const lines = this.tabs().map(({name, mark}, i) => `${i + 1}  ${name}${mark === 'idle' ? '' : `  ${mark}`}`);
      this.onEntry(noticeEntry(lines.join('\n'), String));
      return;
    }
    const session = [...this.view.sessions.values()].filter(
      ({id}) => id === to || (to.length > 3 && id.includes(to) && !this.view.agents.includes(to)),
    );
    const [only] = session;
    if (only && session.length === 1 && !this.tabs().some(({name}) => name === to.replace(/^@/, '')))
      this.switchTo(only.agent, only.path);
    else this.switchTo(this.#known(to.replace(/^@/, '')));
  }

  #withSession(name: string, args: readonly string[]): readonly string[] {
    const id = this.conversation?.file.id;
    const hasNone = args.every(arg => arg.startsWith('-'));
    return slashCommand(name)?.runs === 'session' && hasNone && id !== undefined ? [id, ...args] : args;
  }

  async #run(args: readonly string[]): Promise<void> {
    this.busy = `agentdir ${args[0]}`;
    this.onChange();
    const {text} = await this.#services.run(args, this.#width);
    this.onEntry(outputEntry(args.join(' '), text));
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      this.onEntry(errorEntry(error.message, error.hint));
    } finally {
      this.busy = undefined;
      this.onChange();
    }
  }

  /** The session that messages to an agent go to, if it is not the shared one. */
  #sessionFor(agent: string): SessionFile | undefined {
    const path = this.#chosen.get(agent);
    const chosen = path === undefined ? undefined : this.view.sessions.get(path);
    if (chosen) return chosen;
    // An agent of a workflow has one session and no template of its name.
    return this.view.agents.includes(agent) ? undefined : this.view.ofAgent(agent)[0];
  }

  #pathOf(agent: string): string | undefined {
    return (this.#sessionFor(agent) ?? this.view.sharedSession(agent))?.path;
  }

  /** Shows the conversation of the active agent. */
  #open(withHeading = false): void {
    this.#follow?.abort();
    const file = this.#sessionFor(this.agent) ?? this.view.sharedSession(this.agent);
    if (withHeading) this.onEntry(headingEntry(`@${this.agent}`, file?.id ?? 'no conversation yet'));
    this.conversation = file && new Conversation(this.home, {id: file.id, path: file.path});
    this.view.show(file ? [file.path] : []);
    if (!file) return;
    this.#read();
    const stop = new AbortController();
    this.#follow = stop;
    const {conversation} = this;
    const hear = (event: Parameters<Conversation['hear']>[0]) => {
      if (stop.signal.aborted) return;
      conversation?.hear(event);
      this.onChange();
    };
    void followLive(this.home, {session: file.id}, hear, stop.signal);
  }

  #read(): void {
    for (const entry of this.conversation?.read() ?? []) this.onEntry(entry);
  }

  #changed(paths: ReadonlySet<string>): void {
    if (this.isOver) return;
    const {conversation} = this;
    if (conversation && paths.has(conversation.file.path)) this.#read();
    else if (!conversation && this.view.sharedSession(this.agent)) this.#open();
    if (this.#wasServed === true && !this.view.isServed)
      this.onEntry(noticeEntry('the daemon has stopped; nothing is lost. To start it: /start', colors.yellow));
    if (this.#wasServed !== undefined) this.#wasServed = this.view.isServed;
    this.#noteFinished();
    for (const awaited of this.#awaited) if (paths.has(awaited.file.path)) this.#lookAtAwaited(awaited);
    this.#nextRequest();
    this.onChange();
  }

  #noteFinished(): void {
    for (const {agent, status} of this.view.sessions.values()) {
      if (status === 'active') this.#working.add(agent);
    }
    for (const agent of this.#working) {
      const isWorking = this.view.ofAgent(agent).some(({status}) => status === 'active' || status === 'waiting');
      if (isWorking) continue;
      this.#working.delete(agent);
      if (agent !== this.agent) this.#finished.add(agent);
    }
  }

  #lookAtAwaited(awaited: Awaited): void {
    try {
      const found = readSession(this.home, awaited.file);
      if (!found) return;
      const {replies, over} = progressOf(found.header, found.session.messages, awaited.asked);
      if (over === undefined || over === 'waiting') return;
      this.#awaited = this.#awaited.filter(each => each !== awaited);
      if (over === 'answered') this.onEntry(answerEntry(awaited.agent, answerText(replies), '✓ completed'));
      else if (over === 'error') this.onEntry(errorEntry(`@${awaited.agent} is in error: ${errorOf(found.header)}`));
      else this.onEntry(noticeEntry(`@${awaited.agent}: ${awaited.file.id} is ${found.header.status}`, colors.yellow));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
    }
  }

  /** Shows the next request, or says what became of the one on the screen. */
  #nextRequest(): void {
    const requests = this.view.requests;
    const {shown} = this;
    if (shown) {
      const now = requests.find(({id}) => id === shown.request.id);
      if (!now) {
        this.onEntry(goneEntry(this.home, shown.request));
        this.shown = undefined;
      } else {
        const again = showRequest(this.home, now);
        if (again.mark !== shown.mark) {
          this.onEntry(noticeEntry(`${now.id} was changed:`, colors.yellow));
          this.#show(again);
        }
        return;
      }
    }
    const own = requests.find(({session}) => session !== undefined && session === this.conversation?.file.id);
    const next = own ?? requests[0];
    if (next) this.#show(showRequest(this.home, next));
  }

  #show(shown: ShownRequest): void {
    this.shown = shown;
    const {page} = this.#services;
    this.onEntry(width => [
      '',
      `${colors.yellow('▲ approval needed')}`,
      ...page(shown.request, shown.page, width).split('\n'),
    ]);
  }

  #endedTasks(): Map<string, boolean> {
    const ended = new Map<string, boolean>();
    for (const {task} of this.view.tasks) {
      const [name] = task.names;
      if (name === undefined || task.state === 'skipped') continue;
      ended.set(name, (ended.get(name) ?? true) && task.state === 'completed');
    }
    return ended;
  }

  #markOf(
    name: string,
    sessions: readonly SessionState[],
    asking: ReadonlySet<string | undefined>,
    ended: ReadonlyMap<string, boolean>,
  ): AgentMark {
    if (this.view.held.has(templateOf(name))) return 'stopped';
    if (sessions.some(({id}) => asking.has(id))) return 'waiting';
    if (this.view.isServed && sessions.some(({status}) => status === 'active' || status === 'waiting'))
      return 'working';
    const latest = sessions.reduce<SessionState | undefined>(
      (last, each) => (last && last.changed >= each.changed ? last : each),
      undefined,
    );
    if (latest?.status === 'error') return 'failed';
    return this.#finished.has(name) || ended.get(name) === true ? 'done' : 'idle';
  }
}

function isGone(sessions: readonly SessionState[] | undefined): boolean {
  return (
    sessions !== undefined &&
    sessions.length > 0 &&
    sessions.every(each => each.isEphemeral && each.status === 'completed')
  );
}

function defaultAgent(home: string, known: readonly string[]): string {
  try {
    return agentName(home, undefined);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return known[0] ?? '';
  }
}

/** `reviewer@pr-1` is made from the template `reviewer`. */
function templateOf(agent: string): string {
  return agent.split('@')[0] ?? agent;
}

function oneLine(text: string): string {
  const flat = visibleLine(text.replace(/\s+/g, ' ').trim());
  return flat.length > 60 ? `${flat.slice(0, 59)}…` : flat;
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}

function lastJson(text: string): Record<string, unknown> | undefined {
  const line = text.split('\n').find(each => each.startsWith('{'));
  try {
    return line === undefined ? undefined : (JSON.parse(line) as Record<string, unknown>);
  } catch {
    return undefined;
  }
}

/** What somebody else, another chat or an editor has decided. */
function goneEntry(home: string, {id}: Request): Entry {
  try {
    const now = requestOf(readQueue(home), id);
    const state = now?.decision ?? now?.status;
    const by = now && (fieldOf(now.task, 'approved_by') ?? fieldOf(now.task, 'rejected_by'));
    return noticeEntry(
      `${id} is ${state ?? 'decided'} elsewhere${by === undefined ? '' : ` by ${by.replace(/ <.*/, '')}`}`,
    );
  } catch {
    return noticeEntry(`${id} is no longer pending`);
  }
}

function help(): Entry {
  const lines = [
    'TEXT                 a message for the active agent',
    '@agent TEXT          ask another agent',
    '@agent /task TEXT    delegate a task to it',
    '@agent               talk to that agent',
    '',
    ...slashCommands.map(({usage, about}) => `${usage.padEnd(20)} ${about}`),
    '',
    ...KEYS_HELP.map(([keys, about]) => `${keys.padEnd(20)} ${about}`),
  ];
  return width => ['', ...lines.flatMap(line => noticeEntry(line, String)(width))];
}
