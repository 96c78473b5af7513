import {exit, UserError} from '../../formats/common/errors.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import {fieldOf} from '../../formats/task/task.ts';
import {followLive} from '../../home/live-read.ts';
import type {SessionFile} from '../../home/session-files.ts';
import {type Request, readQueue, requestOf} from '../actions/decide/queue.ts';
import {readInstance} from '../actions/instances/instances.ts';
import {cancelTurn} from '../actions/sessions/change-status.ts';
import {type AskedMessage, answerText, errorOf, progressOf} from '../actions/talk/answer.ts';
import {agentName} from '../actions/talk/find-agent.ts';
import {readSession} from '../actions/talk/find-session.ts';
import {makeSession} from '../actions/talk/make-session.ts';
import {agentNamed} from '../actions/talk/read-agent.ts';
import {redactMessage} from '../actions/talk/redact-message.ts';
import {writeMessage} from '../actions/talk/write-message.ts';
import {sendToChannel} from '../actions/workflows/channel.ts';
import {colors} from '../terminal/output.ts';
import {ChannelConversation} from './channel-conversation.ts';
import type {KnownNames} from './complete.ts';
import {Conversation} from './conversation.ts';
import {answerEntry, type Entry, errorEntry, GUTTER_WIDTH, headingEntry, noticeEntry, outputEntry} from './entries.ts';
import {byIdOrPart, type Intent, readIntent} from './grammar.ts';
import {HomeView, type InstanceState, type SessionState} from './home-view.ts';
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

/** How long the page of a request may take. */
const PAGE_MS = 1_000;
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
  /** The workflow channel on the screen, in place of a conversation. */
  channel: ChannelConversation | undefined;
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
  /** Tabs that finished while others were on the screen. */
  readonly #finished = new Set<string>();
  readonly #working = new Set<string>();
  /** Until something changes. */
  #tabs: readonly BarTab[] | undefined;
  #awaited: Awaited[] = [];
  #follow: AbortController | undefined;
  #width = 80;
  /** The session of each agent, if it is not its shared one. */
  readonly #chosen = new Map<string, string>();
  #wasServed: boolean;
  #isDeciding = false;
  /** When a request without a page was seen first. */
  readonly #pageless = new Map<string, number>();

  constructor(services: ChatServices) {
    this.#services = services;
    this.home = services.home;
    this.view = new HomeView(services.home);
    this.view.begin();
    this.agent = this.view.defaultAgent;
    this.#wasServed = this.view.isServed;
  }

  /** Reads conversations and follows what changes. */
  async start(): Promise<void> {
    this.view.onChange = () => {
      this.#tabs = undefined;
      this.onChange();
    };
    await this.view.follow();
    this.#open();
    this.view.onChange = paths => this.#changed(paths);
    this.#changed(new Set());
  }

  close(): void {
    this.isOver = true;
    this.#follow?.abort();
    this.view.close();
  }

  set width(columns: number) {
    this.#width = columns;
  }

  /** The name of the active tab. */
  get active(): string {
    return this.channel ? channelTab(this.channel.instance) : this.agent;
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
        tabs.findIndex(({name}) => name === this.active),
      ),
      tasks,
      approvals: this.view.requests.length,
    };
  }

  /** The default agent first, then the others by name, then agents and channels of workflows. */
  tabs(): readonly BarTab[] {
    this.#tabs ??= this.#makeTabs();
    return this.#tabs;
  }

  #makeTabs(): BarTab[] {
    const states = this.#sessionsByAgent();
    const known = new Set(this.view.agents);
    const others = [...states.keys()].filter(name => !known.has(name) && name.includes('@')).sort();
    const first = this.view.defaultAgent;
    const names = [first, ...[...known].filter(name => name !== first).sort(), ...others].filter(name => name !== '');
    const asking = new Set(this.view.requests.map(request => request.session));
    const ended = this.#endedTasks();
    const agents = names
      .filter(name => name === this.agent || !isGone(states.get(name)))
      .map(name => ({name, mark: this.#markOf(name, states.get(name) ?? [], asking, ended)}));
    const channels = [...this.view.instances.values()].map(state => {
      const name = channelTab(state.instance);
      return {name, mark: this.#finished.has(name) ? ('done' as const) : markOfInstance(state, this.view.isServed)};
    });
    return [...agents, ...channels.sort((a, b) => (a.name < b.name ? -1 : 1))];
  }

  #sessionsByAgent(): Map<string, SessionState[]> {
    const states = new Map<string, SessionState[]>();
    for (const session of this.view.sessions.values()) {
      const own = states.get(session.agent);
      if (own) own.push(session);
      else states.set(session.agent, [session]);
    }
    return states;
  }

  names(): KnownNames {
    return {
      agents: this.tabs().flatMap(({name}) => (name.startsWith('#') ? [] : [name])),
      sessions: [...this.view.sessions.values()].map(({id}) => id),
      approvals: this.view.requests.map(({id}) => id),
      channels: [...this.view.instances.keys()],
    };
  }

  /** The workflow instance whose channel is on the screen. */
  get instance(): InstanceState | undefined {
    return this.channel && this.view.instances.get(this.channel.instance);
  }

  /** Whether the active session is asked, runs something or waits. */
  get isWorking(): boolean {
    const status = this.conversation?.header?.status;
    return status === 'active' || status === 'waiting';
  }

  /** Agents at work on messages that were sent elsewhere, and those of the channel on the screen. */
  get awaited(): readonly {agent: string; status: string}[] {
    const elsewhere = this.#awaited.map(({agent, file}) => ({
      agent,
      status: this.view.sessions.get(file.path)?.status ?? '',
    }));
    const {channel, view} = this;
    if (!channel) return elsewhere;
    const members = [...view.sessions.values()].filter(
      ({agent, status}) => agent.endsWith(`@${channel.instance}`) && (status === 'active' || status === 'waiting'),
    );
    return [...members, ...elsewhere.filter(({agent}) => !members.some(member => member.agent === agent))];
  }

  /** Does what a line says. False: nothing was done, and the line should stay in the prompt. */
  async submit(line: string): Promise<boolean> {
    try {
      return await this.#do(readIntent(line), line.trim());
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
    if (!shown || this.#isDeciding) return;
    this.#isDeciding = true;
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
    }).finally(() => {
      this.#isDeciding = false;
    });
    this.view.refresh('tasks/approvals.task.md');
  }

  /** Shows another request, and leaves this one for later. */
  showNextRequest(): void {
    const {requests} = this.view;
    const at = requests.findIndex(({id}) => id === this.shown?.request.id);
    const next = requests[(at + 1) % requests.length];
    if (next) this.#show(showRequest(this.home, next));
    this.onChange();
  }

  /** Switches to the agent at a place of the status bar, or by a step. */
  switchBy(place: {index: number} | {step: number}): void {
    const tabs = this.tabs();
    const at = tabs.findIndex(({name}) => name === this.active);
    const index = 'index' in place ? place.index : (at + place.step + tabs.length) % tabs.length;
    const tab = tabs[index];
    if (tab) this.switchTo(tab.name);
  }

  /** Shows an agent's conversation, or the channel of a tab such as `#pr-123`. */
  switchTo(name: string, session?: string): void {
    this.#finished.delete(name);
    this.#tabs = undefined;
    if (name.startsWith('#')) this.#openChannel(name.slice(1));
    else {
      if (session === undefined) this.#chosen.delete(name);
      else this.#chosen.set(name, session);
      const isShown = name === this.active && this.conversation?.file.path === this.#pathOf(name);
      if (isShown && this.conversation && session === undefined) return;
      this.agent = name;
      this.#open(true);
    }
    this.onChange();
  }

  async newSession(): Promise<void> {
    await this.#attempt(async () => {
      if (this.channel) throw new UserError('a channel has no sessions', exit.usage, 'switch to an agent first');
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

  async #do(intent: Intent, line: string): Promise<boolean> {
    switch (intent.do) {
      case 'nothing':
        return false;
      case 'refuse':
        throw new UserError(intent.why, exit.usage, intent.hint);
      case 'say':
        await (this.channel ? this.#post(this.channel, intent.text) : this.#send(this.agent, intent.text));
        return true;
      case 'ask':
        // In its channel, the name of an agent is a mention.
        if (this.channel && this.instance?.agents.includes(intent.agent)) await this.#post(this.channel, line);
        else await this.#send(this.#known(intent.agent), intent.text);
        return true;
      case 'delegate':
        await this.#delegate(intent.agent === undefined ? this.agent : this.#known(intent.agent), intent.text);
        return true;
      case 'switch':
        this.#switch(intent.to);
        return true;
      case 'command':
        await this.#command(intent.name, intent.args, intent.rest);
        return true;
    }
  }

  /** An agent of the channel on the screen needs no `@instance`. */
  #known(name: string): string {
    const member = this.instance?.agents.includes(name) ? `${name}@${this.instance.instance}` : name;
    return this.tabs().some(tab => tab.name === member) ? member : agentName(this.home, member);
  }

  /** Appends an entry to a workflow channel. */
  async #post({instance}: ChannelConversation, text: string): Promise<void> {
    this.busy = 'sending';
    this.onChange();
    const {content, replaced} = redactMessage(this.home, text);
    for (const {what} of replaced) this.onEntry(noticeEntry(`a ${what} was replaced before writing`, colors.yellow));
    const {unknown} = await sendToChannel(this.home, instance, {text: content});
    this.#readChannel();
    for (const name of unknown)
      this.onEntry(noticeEntry(`nobody in ${instance} is called ${name}: nobody is woken by it`, colors.yellow));
    if (!this.view.isServed)
      this.onEntry(noticeEntry('no daemon is running, so nobody answers yet: /start', colors.yellow));
    else if (this.instance?.status === 'stopped')
      this.onEntry(noticeEntry(`${instance} is stopped: agentdir start @${instance}`, colors.yellow));
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
    else if (this.view.held.has(agent))
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
    if (to.startsWith('#')) {
      const instance = readInstance(this.home, to.slice(1));
      if (!instance.context.channel) throw new UserError(`${to.slice(1)} has no channel`, exit.usage);
      this.switchTo(channelTab(instance.instance));
      return;
    }
    const isTab = this.tabs().some(({name}) => name === to.replace(/^@/, ''));
    const session =
      isTab || this.view.agents.includes(to) ? undefined : byIdOrPart([...this.view.sessions.values()], to);
    if (session) this.switchTo(session.agent, session.path);
    else this.switchTo(this.#known(to.replace(/^@/, '')));
  }

  #withSession(name: string, args: readonly string[]): readonly string[] {
    const id = this.conversation?.file.id;
    const hasNone = args[0]?.startsWith('-') ?? true;
    return slashCommand(name)?.runs === 'session' && hasNone && id !== undefined ? [id, ...args] : args;
  }

  async #run(args: readonly string[]): Promise<void> {
    this.busy = `agentdir ${args[0]}`;
    this.onChange();
    const {text} = await this.#services.run(args, this.#width - GUTTER_WIDTH);
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
    this.channel = undefined;
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

  #openChannel(instance: string): void {
    this.#follow?.abort();
    this.conversation = undefined;
    this.channel = new ChannelConversation(this.home, instance);
    const state = this.instance;
    this.onEntry(headingEntry(channelTab(instance), state?.workflow ?? ''));
    this.view.show(state ? [state.channel] : []);
    this.#readChannel();
  }

  #readChannel(): void {
    for (const entry of this.channel?.read(this.instance) ?? []) this.onEntry(entry);
  }

  #read(): void {
    for (const entry of this.conversation?.read() ?? []) this.onEntry(entry);
  }

  #changed(paths: ReadonlySet<string>): void {
    if (this.isOver) return;
    this.#tabs = undefined;
    const {conversation, channel} = this;
    if (channel) {
      if ([...paths].some(path => path.includes(`/${channel.instance}/`))) this.#readChannel();
    } else if (conversation && paths.has(conversation.file.path)) this.#read();
    else if (!conversation && this.view.sharedSession(this.agent)) this.#open();
    if (this.#wasServed && !this.view.isServed)
      this.onEntry(noticeEntry('the daemon has stopped; nothing is lost. To start it: /start', colors.yellow));
    this.#wasServed = this.view.isServed;
    this.#noteFinished();
    for (const awaited of this.#awaited) if (paths.has(awaited.file.path)) this.#lookAtAwaited(awaited);
    this.#nextRequest();
    this.onChange();
  }

  #noteFinished(): void {
    const [active, working] = [new Set<string>(), new Set<string>()];
    for (const {agent, status} of this.view.sessions.values()) {
      if (status === 'active') active.add(agent);
      if (status === 'active' || status === 'waiting') working.add(agent);
    }
    for (const {instance, status} of this.view.instances.values()) {
      if (status === 'running') active.add(channelTab(instance));
      if (status === 'running' || status === 'waiting') working.add(channelTab(instance));
    }
    for (const name of this.#working) {
      if (working.has(name)) continue;
      this.#working.delete(name);
      if (name !== this.active) this.#finished.add(name);
    }
    for (const name of active) this.#working.add(name);
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
    if (!next) return;
    const found = showRequest(this.home, next);
    if (found.page || !this.#isPageDue(next)) this.#show(found);
  }

  /** The daemon writes the page right after the item: a person sees both at once. */
  #isPageDue({id}: Request): boolean {
    if (!this.view.isServed) return false;
    const now = performance.now();
    const since = this.#pageless.get(id);
    if (since !== undefined) return now - since < PAGE_MS;
    this.#pageless.set(id, now);
    setTimeout(() => this.#changed(new Set()), PAGE_MS).unref();
    return true;
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
    if (this.view.held.has(name)) return 'stopped';
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

/** The name of a channel's tab. */
function channelTab(instance: string): string {
  return `#${instance}`;
}

function markOfInstance({status}: InstanceState, isServed: boolean): AgentMark {
  switch (status) {
    case 'running':
      return isServed ? 'working' : 'idle';
    case 'idle':
      return 'idle';
    default:
      return status;
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
