import {visibleLine} from '../../formats/common/visible.ts';
import {fieldOf} from '../../formats/task/task.ts';
import {isQuestion} from '../actions/decide/choose.ts';
import {colors} from '../terminal/output.ts';
import {breakAt, cutToWidth} from '../terminal/table.ts';
import type {Chat} from './chat.ts';
import {complete} from './complete.ts';
import {dashboardLines} from './dashboard.ts';
import {type Editor, inserted, newEditor, pressed, submitted, withText} from './editor.ts';
import {errorEntry, gutter, noticeEntry} from './entries.ts';
import {addInput, readInputs} from './input-history.ts';
import type {KeyEvent} from './keys.ts';
import {ContextSizes, instanceMeter, meterLine} from './meter.ts';
import {type Screen, screenOf} from './screen.ts';
import type {ChatServices} from './services.ts';
import {answersOf, editableText, type ShownRequest} from './shown-request.ts';

/** What the prompt is for. */
type Purpose = 'message' | 'edit' | 'reason' | 'answer';

/** A second Ctrl+C within this time leaves. */
const LEAVE_MS = 3_000;
/** A key decides only if no other follows within this time: it may be the beginning of a message. */
const TYPING_MS = 250;
/** As `TYPING_MS`, for the key that also adds a rule: longer, because the rule stays in force. */
const ALWAYS_MS = 700;
/** No key decides so soon after a decision: one that is pressed twice is not meant for the next request. */
const TWICE_MS = 400;
/** No key decides so soon after the request on the screen has changed: it was meant for the version before. */
const CHANGED_MS = 700;

/** Keys → what happens in chat, and what the changing part of the screen shows. Knows no terminal. */
export class ChatController {
  /** Called when the screen is to be drawn again. */
  onChange: () => void = () => {};
  /** Called when the whole screen is to be drawn again. */
  onRedraw: () => void = () => {};
  /** Called when the person wants the shell back for a while. */
  onSuspend: () => void = () => {};
  /** Called once, when the person leaves. */
  onLeave: () => void = () => {};
  readonly #chat: Chat;
  readonly #services: ChatServices;
  readonly #sizes: ContextSizes;
  #editor: Editor;
  /** The message that is being written, while the prompt is for something else. */
  #message: Editor;
  #purpose: Purpose = 'message';
  #options: readonly string[] = [];
  #dashboard: number | undefined;
  #isOffering = false;
  #isPrefixed = false;
  /** The keys of the request count, whatever the prompt holds. */
  #isDeciding = false;
  #leaving = Number.NEGATIVE_INFINITY;
  /** The message that is being written to its file. */
  #sending: string | undefined;
  /** The message after that. */
  #next: string | undefined;
  #shownMark = '';
  #shownId: string | undefined;
  /** When keys decide again. */
  #ignoredUntil = Number.NEGATIVE_INFINITY;
  #typed: {key: string; timer: NodeJS.Timeout} | undefined;

  constructor(chat: Chat, services: ChatServices) {
    this.#chat = chat;
    this.#services = services;
    this.#sizes = new ContextSizes(services.home);
    this.#editor = newEditor(readInputs(services.home));
    this.#message = this.#editor;
    this.#isOffering = !chat.view.isServed;
  }

  /** The text of the prompt. */
  get text(): string {
    return this.#editor.text;
  }

  press(event: KeyEvent): void {
    if ('paste' in event) this.#insert((this.#typed?.key ?? '') + event.paste);
    else if ('text' in event) this.#type(event.text);
    else this.#key(event.key);
    this.onChange();
  }

  screen(columns: number, rows: number): Screen {
    const chat = this.#chat;
    chat.width = columns;
    const {conversation} = chat;
    this.#noteShown();
    return screenOf({
      ...{columns, rows, bar: chat.bar, agent: chat.agent},
      editor: this.#typed ? inserted(this.#editor, this.#typed.key) : this.#editor,
      label: this.#purpose === 'message' ? '>' : `${this.#purpose}>`,
      placeholder: this.#placeholder(),
      live: conversation?.live,
      open: conversation?.open ?? [],
      awaited: chat.awaited,
      panel: this.#panel(columns),
      overlay:
        this.#dashboard === undefined
          ? undefined
          : height => dashboardLines(chat.view.tasks, this.#dashboard ?? 0, height, columns),
      options: this.#options,
      meter: chat.instance
        ? instanceMeter(chat.instance, columns)
        : meterLine(conversation, this.#sizes.of(conversation?.header?.model), columns),
      hint: this.#hint(),
    });
  }

  #placeholder(): string {
    if (this.#purpose === 'reason') return 'why not? The agent reads it; Enter rejects, Esc goes back';
    if (this.#purpose === 'answer') return 'your answer; Enter sends it, Esc goes back';
    const {channel, agent} = this.#chat;
    return channel ? `write to #${channel.instance}; @name wakes an agent` : `message @${agent}, or /help`;
  }

  #hint(): string {
    const {busy, view} = this.#chat;
    if (performance.now() - this.#leaving < LEAVE_MS) return 'press Ctrl+C again to leave; the daemon keeps running';
    if (this.#isPrefixed) return 'Ctrl+A: 1-9 agent, n next, p previous, c new session, d tasks, a decide';
    if (busy !== undefined) return `${busy} …`;
    if (view.wrong !== undefined) return 'the approval queue has errors: /check';
    if (!view.isServed) return 'no daemon: /start';
    return this.#chat.isWorking ? 'Esc cancels' : '';
  }

  #noteShown(): void {
    const {mark = '', request} = this.#chat.shown ?? {};
    if (mark === this.#shownMark) return;
    if (request && request.id === this.#shownId) this.#ignoredUntil = performance.now() + CHANGED_MS;
    this.#shownId = request?.id;
    this.#shownMark = mark;
    this.#forgetTyped();
    if (this.#purpose !== 'message') this.#backToMessage();
    if (mark === '') this.#isDeciding = false;
  }

  #panel(columns: number): string[] {
    if (this.#isOffering)
      return [
        colors.yellow('No daemon is running, so nobody answers.'),
        'Start it in the background? [Y/n] (y or Enter)',
      ].flatMap(line => breakAt(line, columns, true));
    const {shown, view} = this.#chat;
    if (!shown) return [];
    const {request, page} = shown;
    const at = view.requests.findIndex(({id}) => id === request.id);
    const more = view.requests.length > 1 ? ` · ${at + 1} of ${view.requests.length}` : '';
    const risk = fieldOf(request.task, 'risk');
    const head = `▲ @${visibleLine(request.agent ?? 'agent')} asks${risk ? ` · risk ${visibleLine(risk)}` : ''} · ${request.id}${more}`;
    const told = this.#services.summary(request, page, columns);
    const what =
      told.length > 0 ? told : gutter(breakAt(visibleLine(request.task.title), columns - 2, true).slice(0, 4));
    const choices = isQuestion(request)
      ? answersOf(shown).map((option, i) => `│ ${i + 1}  ${visibleLine(option)}`)
      : [];
    const keys = colors.bold(cutToWidth(this.#keysLine(shown, columns), columns));
    return [...breakAt(head, columns, true).map(line => colors.yellow(line)), ...what, ...choices, keys];
  }

  #keysLine(shown: ShownRequest, columns: number): string {
    if (this.#purpose === 'edit') return 'Enter approves your version, Esc goes back';
    if (this.#purpose !== 'message') return 'Enter, or Esc';
    if (!this.#areKeysForRequest) return 'Ctrl+A a to decide';
    if (this.#typed?.key === 'a') return 'always, in a moment · Enter now · Esc not';
    const next = this.#chat.view.requests.length > 1 ? ' · s next' : '';
    if (isQuestion(shown.request)) {
      const count = answersOf(shown).length;
      return `${count > 0 ? `1-${count} choose · ` : ''}y answer · n refuse${next}`;
    }
    const whole = `y yes · n no · e edit · a always · r no, because${next}`;
    return whole.length <= columns ? whole : `y n · e edit · a always · r reason${next}`;
  }

  get #areKeysForRequest(): boolean {
    return (
      this.#chat.shown !== undefined && this.#purpose === 'message' && (this.#isDeciding || this.#editor.text === '')
    );
  }

  #insert(text: string): void {
    this.#forgetTyped();
    this.#isOffering = false;
    this.#isDeciding = false;
    this.#options = [];
    this.#editor = inserted(this.#editor, text);
  }

  #type(text: string): void {
    if (this.#isPrefixed) {
      this.#isPrefixed = false;
      const [first = '', ...rest] = text;
      this.#prefixed(first);
      if (rest.length > 0) this.#type(rest.join(''));
      return;
    }
    if (this.#isOffering && this.#editor.text === '' && /^[yn]$/i.test(text)) {
      this.#answerOffer(/^y$/i.test(text));
      return;
    }
    if (this.#dashboard !== undefined && text === 'q' && this.#editor.text === '') {
      this.#dashboard = undefined;
      return;
    }
    const typed = this.#typed;
    if (typed) {
      this.#forgetTyped();
      // Pressing a key twice confirms it; any other key means that the person is typing a word.
      if (typed.key === text) this.#decideBy(text);
      else this.#insert(typed.key + text);
      return;
    }
    this.#noteShown();
    if (this.#areKeysForRequest && /^[ynears1-9]$/.test(text) && this.#isChoice(text)) {
      this.#decisionKey(text);
      return;
    }
    this.#insert(text);
  }

  #forgetTyped(): void {
    clearTimeout(this.#typed?.timer);
    this.#typed = undefined;
  }

  /** Whether the request on the screen offers this key. */
  #isChoice(key: string): boolean {
    const {shown, view} = this.#chat;
    if (!shown) return false;
    if (key === 's') return view.requests.length > 1;
    const question = isQuestion(shown.request);
    return /\d/.test(key) ? question && Number(key) <= answersOf(shown).length : !question || /[yna]/.test(key);
  }

  #decisionKey(key: string): void {
    if (performance.now() < this.#ignoredUntil) return;
    if (this.#isDeciding) {
      this.#decideBy(key);
      return;
    }
    const timer = setTimeout(
      () => {
        this.#typed = undefined;
        this.#decideBy(key);
        this.onChange();
      },
      key === 'a' ? ALWAYS_MS : TYPING_MS,
    );
    this.#typed = {key, timer};
  }

  #decideBy(key: string): void {
    const {shown} = this.#chat;
    if (!shown) return;
    this.#isDeciding = false;
    if (key === 's') {
      this.#chat.showNextRequest();
      return;
    }
    this.#ignoredUntil = performance.now() + TWICE_MS;
    if (/\d/.test(key)) {
      void this.#chat.decide({yes: true, answer: answersOf(shown)[Number(key) - 1] ?? key});
      return;
    }
    if (isQuestion(shown.request) && key !== 'n') {
      this.#ask('answer', '');
      return;
    }
    if (key === 'y' || key === 'a') void this.#chat.decide({yes: true, always: key === 'a'});
    else if (key === 'n') void this.#chat.decide({yes: false});
    else if (key === 'r') this.#ask('reason', '');
    else {
      const text = editableText(this.#chat.home, shown);
      if (text === undefined) this.#chat.onEntry(noticeEntry(`${shown.request.id} has no text to edit`));
      else this.#ask('edit', text.trimEnd());
    }
  }

  /** The prompt asks for something else; the message stays for later. */
  #ask(purpose: Purpose, text: string): void {
    this.#message = this.#editor;
    this.#purpose = purpose;
    this.#editor = withText(newEditor(), text);
  }

  #backToMessage(): void {
    this.#purpose = 'message';
    this.#editor = this.#message;
  }

  #answerOffer(yes: boolean): void {
    this.#isOffering = false;
    if (yes) void this.#chat.startDaemon();
    else this.#chat.onEntry(noticeEntry('messages wait in their files until a daemon runs: /start'));
  }

  #key(key: string): void {
    if (key !== 'ctrl-c') this.#leaving = Number.NEGATIVE_INFINITY;
    if (key !== 'tab') this.#options = [];
    const typed = this.#typed;
    if (typed && key !== 'enter') {
      this.#forgetTyped();
      if (key === 'esc' || key === 'backspace') return;
      this.#insert(typed.key);
    }
    if (this.#isPrefixed) {
      this.#isPrefixed = false;
      // As in screen and tmux: pressed twice, it is the key itself.
      if (key === 'ctrl-a') this.#edit('home');
      else if (key.startsWith('ctrl-')) this.#prefixed(key.slice('ctrl-'.length));
      return;
    }
    switch (key) {
      case 'ctrl-a':
        this.#isPrefixed = true;
        return;
      case 'enter':
        this.#enter();
        return;
      case 'tab':
        this.#complete();
        return;
      case 'esc':
        this.#escape();
        return;
      case 'ctrl-c':
        this.#interrupt();
        return;
      case 'ctrl-d':
        if (this.#editor.text === '') this.onLeave();
        else this.#edit('delete');
        return;
      case 'ctrl-o':
        this.#chat.showDetails();
        return;
      case 'ctrl-l':
        this.onRedraw();
        return;
      case 'ctrl-z':
        this.onSuspend();
        return;
      default:
        this.#edit(key);
        return;
    }
  }

  #edit(key: string): void {
    if (this.#dashboard !== undefined && this.#editor.text === '') {
      const steps: Record<string, number> = {up: -1, down: 1, pageup: -10, pagedown: 10};
      const step = steps[key];
      if (step !== undefined) {
        this.#dashboard = Math.max(0, Math.min(this.#chat.view.tasks.length - 1, this.#dashboard + step));
        return;
      }
    }
    const next = pressed(this.#editor, key);
    if (next) this.#editor = next;
  }

  #prefixed(key: string): void {
    const chat = this.#chat;
    if (/^[1-9]$/.test(key)) chat.switchBy({index: Number(key) - 1});
    else if (key === 'n') chat.switchBy({step: 1});
    else if (key === 'p') chat.switchBy({step: -1});
    else if (key === 'c') void chat.newSession();
    else if (key === 'd') this.#dashboard = this.#dashboard === undefined ? 0 : undefined;
    else if (key === 'a' && chat.shown) this.#isDeciding = true;
  }

  #enter(): void {
    if (this.#isOffering && this.#editor.text.trim() === '') {
      this.#answerOffer(true);
      return;
    }
    if (this.#typed) {
      const {key} = this.#typed;
      this.#forgetTyped();
      this.#decideBy(key);
      return;
    }
    const {text} = this.#editor;
    if (this.#purpose !== 'message') {
      this.#given(text);
      return;
    }
    if (text.endsWith('\\') && this.#editor.cursor === text.length) {
      this.#editor = withText(this.#editor, `${text.slice(0, -1)}\n`);
      return;
    }
    if (text.trim() === '') return;
    if (/^\/(?!task\b)/.test(text)) void this.#runCommand(text);
    else if (this.#sending === undefined) void this.#submit(text);
    // One after the other: what is in the prompt beyond the message under way is sent after it.
    else if (text.startsWith(this.#sending)) this.#next = text.slice(this.#sending.length);
  }

  /** The prompt is free while a command runs, and has it again if it was refused. */
  async #runCommand(text: string): Promise<void> {
    this.#dashboard = undefined;
    this.#editor = submitted(this.#editor);
    addInput(this.#chat.home, text);
    const isDone = await this.#attempt(text);
    if (!isDone && this.#purpose === 'message' && this.#editor.text === '') this.#editor = withText(this.#editor, text);
    this.onChange();
  }

  /** The prompt is emptied once the message is in its file, and keeps what was typed meanwhile. */
  async #submit(text: string): Promise<void> {
    this.#sending = text;
    this.#dashboard = undefined;
    // After a kill in this moment, Up brings it back.
    addInput(this.#chat.home, text);
    const isSent = await this.#attempt(text);
    const next = this.#next;
    [this.#sending, this.#next] = [undefined, undefined];
    if (isSent) {
      const rest = this.#purpose === 'message' ? this.#editor : this.#message;
      const more = rest.text.startsWith(text) ? rest.text.slice(text.length) : '';
      const left = withText(submitted(withText(rest, text)), more);
      if (this.#purpose === 'message') this.#editor = left;
      else this.#message = left;
      if (next !== undefined && next.trim() !== '' && more.startsWith(next)) void this.#submit(next);
    }
    this.onChange();
  }

  async #attempt(text: string): Promise<boolean> {
    try {
      return await this.#chat.submit(text);
    } catch (error) {
      // A full disk, for example: the text stays in the prompt.
      this.#chat.onEntry(errorEntry(`not done: ${(error as Error).message}`));
      return false;
    } finally {
      if (this.#chat.isOver) this.onLeave();
    }
  }

  /** An edited text, a reason or an answer. */
  #given(text: string): void {
    const {shown} = this.#chat;
    const purpose = this.#purpose;
    this.#backToMessage();
    if (!shown) return;
    if (purpose === 'reason') void this.#chat.decide({yes: false, reason: text});
    else if (purpose === 'edit') void this.#chat.decide({yes: true, edited: text});
    else {
      const options = answersOf(shown);
      const answer = /^\d+$/.test(text.trim()) ? (options[Number(text.trim()) - 1] ?? text) : text;
      void this.#chat.decide({yes: true, answer});
    }
  }

  #complete(): void {
    if (this.#purpose !== 'message') return;
    const {text, cursor} = this.#editor;
    const done = complete(text, cursor, this.#chat.names());
    if (!done) return;
    this.#editor = withText(this.#editor, done.text, done.cursor);
    this.#options = done.options;
  }

  /** Goes back from whatever is open; else cancels the turn under way. */
  #escape(): void {
    if (this.#isOffering) {
      this.#answerOffer(false);
      return;
    }
    if (this.#purpose !== 'message') {
      this.#backToMessage();
      return;
    }
    if (this.#dashboard !== undefined) this.#dashboard = undefined;
    else if (this.#isDeciding) this.#isDeciding = false;
    else void this.#chat.cancel();
  }

  #interrupt(): void {
    if (performance.now() - this.#leaving < LEAVE_MS) {
      this.onLeave();
      return;
    }
    this.#leaving = performance.now();
    if (this.#purpose !== 'message') this.#backToMessage();
    // What was typed can be fetched back with Up.
    else if (this.#editor.text !== '') this.#editor = submitted(this.#editor);
    setTimeout(() => this.onChange(), LEAVE_MS + 10).unref();
  }
}
