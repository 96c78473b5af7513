import {isDeepStrictEqual} from 'node:util';
import {byPlace, type Problem} from '../formats/common/diagnostic.ts';
import {checkFile} from './check-file.ts';
import {Definitions} from './definitions.ts';
import type {Counts, Facts} from './facts.ts';
import {type Definition, definitionsIn, indexIn, type Look, type Whole, wholeOf} from './look.ts';
import type {Need} from './need.ts';
import {TaskCircles} from './task-circles.ts';
import {taskNeed} from './task-facts.ts';
import {TaskLinks} from './task-links.ts';

const NONE: readonly Problem[] = [];

type Few = 'template' | 'playbook' | 'rejected' | 'run';

/** A name that checks of other files have looked up, with those files. */
interface Watch {
  name: string;
  by: Set<string>;
}

/**
 * The problems of a home, updated file by file. The cost of a change depends on the file and on the files that look up
 * its names, never on the number of files. `problems`, `all` and `needs` are as of the last `settle`.
 */
export class HomeIndex {
  readonly #facts = new Map<string, Facts>();
  readonly #definitions = new Definitions();
  readonly #circles = new TaskCircles(id => this.#definitions.named(`task/${id}`)[0]);
  readonly links = new TaskLinks();
  /** Names of tasks and agents that have changed since the last `takeChanged`. */
  #changed = new Set<string>();
  readonly #watches = new Map<string, Watch>();
  readonly #looked = new Map<string, readonly Watch[]>();
  /** Paths to check again. */
  readonly #due = new Set<string>();
  /** Problems by path; files without problems have no entry. */
  readonly #problems = new Map<string, readonly Problem[]>();
  readonly #needy = new Set<string>();
  /** Files set before the first `settle`. Their names are entered together, at the first lookup. */
  #toEnter: string[] = [];
  #settled = false;
  readonly #few: Record<Few, Set<string>> = {
    template: new Set(),
    playbook: new Set(),
    rejected: new Set(),
    run: new Set(),
  };
  readonly #counts = {agents: 0, sessions: 0, messages: 0, tasks: 0};

  /** Add or replace a file. */
  set(path: string, facts: Facts): void {
    if (this.#settled || this.#facts.has(path)) this.#replace(path, facts);
    else {
      this.#keep(path, facts);
      this.#toEnter.push(path);
    }
  }

  remove(path: string): void {
    this.#replace(path, undefined);
  }

  /** Check the changed files and those that depend on them. Returns the files whose problems have changed, by path. */
  settle(): {path: string; problems: readonly Problem[]}[] {
    this.#enter();
    this.#settled = true;
    for (const path of this.#circles.settle()) this.#due.add(path);
    const changed = [...this.#due].filter(path => this.#check(path)).sort();
    this.#due.clear();
    return changed.map(path => ({path, problems: this.problems(path)}));
  }

  problems(path: string): readonly Problem[] {
    return this.#problems.get(path) ?? NONE;
  }

  /** All problems, in the order of a compiler's output. */
  all(): Problem[] {
    return [...this.#problems.keys()].sort().flatMap(path => this.problems(path));
  }

  /** Everything that waits for a person, by path and line. */
  needs(): (Need & {path: string})[] {
    const ofPeople = this.#needsOfPeople();
    return [...new Set([...this.#needy, ...ofPeople.keys()])].sort().flatMap(path => {
      const more = ofPeople.get(path) ?? [];
      const needs = [...(this.facts(path)?.needs ?? []), ...more];
      if (more.length > 0) needs.sort((a, b) => a.line - b.line);
      return needs.flatMap(need => (this.#isDue(need) ? [{path, ...need}] : []));
    });
  }

  /** Open tasks of the people that agentdir.yaml lists, by path. A file does not know whether a name is an agent's or a person's. */
  #needsOfPeople(): Map<string, Need[]> {
    const needs = new Map<string, Need[]>();
    for (const name of this.#facts.get('agentdir.yaml')?.defines ?? []) {
      const [, who] = /^person\/(.*)$/.exec(name) ?? [];
      if (who === undefined || this.definitionsOf(`agent/${who}`).length > 0) continue;
      for (const path of this.links.of(who)) {
        const found = (this.facts(path)?.tasks ?? []).flatMap(task => taskNeed(task, who) ?? []);
        if (found.length > 0) needs.set(path, [...(needs.get(path) ?? []), ...found]);
      }
    }
    return needs;
  }

  /** A need is not due while it waits for other tasks, or while its agent's session exists. */
  #isDue({after = [], left}: Need): boolean {
    if (left !== undefined && this.definitionsOf(`session/${left}`).length > 0) return false;
    return after.every(id => this.definitionsOf(`task/${id}`)[0]?.state === 'completed');
  }

  facts(path: string): Facts | undefined {
    return this.#facts.get(path);
  }

  paths(): IterableIterator<string> {
    return this.#facts.keys();
  }

  /** Sorted paths of all files of a kind. */
  pathsOf(kind: Few): readonly string[] {
    return [...this.#few[kind]].sort();
  }

  *sessions(): IterableIterator<NonNullable<Facts['session']>> {
    for (const {session} of this.#facts.values()) if (session && !session.segment) yield session;
  }

  /** The definitions of a name such as `agent/planner-001` or `task/redis-check`, by path. */
  definitionsOf(name: string): readonly Definition[] {
    this.#enter();
    return this.#definitions.named(name);
  }

  /** Return and clear the names of tasks and agents that have changed, such as `task/redis-check`. */
  takeChanged(): Iterable<string> {
    const changed = this.#changed;
    if (changed.size > 0) this.#changed = new Set();
    return changed;
  }

  /** Sums over all files. */
  counts(): Required<Counts> {
    return {...this.#counts};
  }

  #keep(path: string, facts: Facts): void {
    this.#facts.set(path, facts);
    this.links.set(path, undefined, facts);
    this.#due.add(path);
    this.#count(facts, 1);
    this.#fewWith(facts)?.add(path);
    if (facts.needs.length > 0) this.#needy.add(path);
  }

  #enter(): void {
    // No name was looked up yet, so no file needs another check.
    for (const path of this.#toEnter) {
      const facts = this.#facts.get(path);
      for (const [name, definition] of facts ? definitionsIn(path, facts) : []) this.#enterName(name, path, definition);
    }
    this.#toEnter = [];
  }

  #enterName(name: string, path: string, definition: Definition | undefined): 'who' | 'what' | 'nothing' {
    const {changed, first} = this.#definitions.set(name, path, definition);
    if (first && wholeOf(name) === 'task') this.#circles.changed(name.slice('task/'.length), first.before, first.after);
    return changed;
  }

  #replace(path: string, facts: Facts | undefined): void {
    this.#enter();
    const former = this.#facts.get(path);
    this.#count(former, -1);
    this.#fewWith(former)?.delete(path);
    this.#needy.delete(path);
    this.#due.add(path);
    this.links.set(path, former, undefined);
    if (facts) this.#keep(path, facts);
    else this.#facts.delete(path);
    const after = facts ? definitionsIn(path, facts) : [];
    const wholes: Partial<Record<Whole, true>> = {};
    for (const [name, definition] of after) this.#define(name, path, definition, wholes);
    if (former) {
      const still = new Set(after.map(([name]) => name));
      for (const [name] of definitionsIn(path, former))
        if (!still.has(name)) this.#define(name, path, undefined, wholes);
    }
    if (wholes.agent) this.#recheck('agent');
    if (wholes.task) this.#recheck('task');
  }

  /** The set that lists files of this kind, if any. */
  #fewWith(facts: Facts | undefined): Set<string> | undefined {
    const kind = facts?.kind;
    return kind && Object.hasOwn(this.#few, kind) ? this.#few[kind as Few] : undefined;
  }

  #count(facts: Facts | undefined, sign: 1 | -1): void {
    if (!facts) return;
    const {agents = 0, sessions = 0, messages = 0, tasks = 0} = facts.counts;
    this.#counts.agents += sign * agents;
    this.#counts.sessions += sign * sessions;
    this.#counts.messages += sign * messages;
    this.#counts.tasks += sign * tasks;
  }

  #define(name: string, path: string, definition: Definition | undefined, wholes: Partial<Record<Whole, true>>): void {
    const changed = this.#enterName(name, path, definition);
    if (changed === 'nothing') return;
    this.#recheck(name);
    const whole = wholeOf(name);
    if (whole) this.#changed.add(name);
    if (changed === 'who' && whole) wholes[whole] = true;
  }

  /** Checks the defining files again too, so that lookups of own names need no watch. */
  #recheck(name: string): void {
    for (const {path} of this.#definitions.named(name)) this.#due.add(path);
    for (const path of this.#watches.get(name)?.by ?? []) this.#due.add(path);
  }

  /** Check a file. Returns whether its problems have changed. */
  #check(path: string): boolean {
    const facts = this.#facts.get(path);
    const watches = new Set<Watch>();
    const own = facts?.problems ?? NONE;
    const others = facts ? checkFile(path, facts, this.#look(path, watches)) : NONE;
    const found = own.length + others.length === 0 ? NONE : [...own, ...others].sort(byPlace);
    for (const watch of this.#looked.get(path) ?? []) {
      if (watches.has(watch)) continue;
      watch.by.delete(path);
      if (watch.by.size === 0) this.#watches.delete(watch.name);
    }
    if (watches.size > 0) this.#looked.set(path, [...watches]);
    else this.#looked.delete(path);
    const before = this.problems(path);
    if (found.length === 0 && before.length === 0) return false;
    if (found.length === before.length && isDeepStrictEqual(found, before)) return false;
    if (found.length > 0) this.#problems.set(path, found);
    else this.#problems.delete(path);
    return true;
  }

  #look(path: string, watches: Set<Watch>): Look {
    const watch = (name: string) => {
      const entry = this.#watches.get(name) ?? {name, by: new Set<string>()};
      if (entry.by.size === 0) this.#watches.set(name, entry);
      entry.by.add(path);
      watches.add(entry);
    };
    return {
      named: name => {
        const found = this.#definitions.named(name);
        if (found[indexIn(found, path)]?.path !== path) watch(name);
        return found;
      },
      all: (whole, most) => {
        watch(whole);
        return this.#definitions.all(whole, most);
      },
      circles: () => this.#circles.at(path),
    };
  }
}
