import type {HomeIndex} from '../check/home-index.ts';
import type {FileOf} from '../check/parse-file.ts';
import {HOLDS_FILE} from '../formats/common/key.ts';
import {type AgentHold, holdOf} from '../formats/holds-file.ts';
import type {Playbook} from '../formats/playbook.ts';
import {emptyPolicy, type Policy} from '../formats/rule.ts';
import {memberOf, memberTemplate, type Run, runPath} from '../formats/run.ts';
import type {Settings} from '../formats/settings.ts';
import type {TemplateValue} from '../formats/template.ts';
import type {Disk} from '../home/disk/disk.ts';
import {blobId} from '../home/git/blob-id.ts';
import type {HomeJournal} from '../home/home-git.ts';
import {readHomeFile} from '../home/read.ts';
import type {FileState, VersionTexts} from './file-state.ts';

export interface ConfigSource {
  readonly disk: Disk;
  readonly index: HomeIndex;
  readonly known: ReadonlyMap<string, FileState>;
  readonly caches: {readonly texts: VersionTexts};
  readonly journal: HomeJournal;
}

type Served = 'settings' | 'policy' | 'template' | 'playbook' | 'holds' | 'run';

/** The settings, policy, templates, playbooks, stopped agents and workflow instances in force. A file with errors keeps its last good version. Each version is parsed once. */
export class CurrentConfig {
  readonly #source: ConfigSource;
  readonly #parsed = new Map<string, {blob: string; file: FileOf<Served> | undefined}>();

  constructor(source: ConfigSource) {
    this.#source = source;
  }

  async settings(): Promise<Settings> {
    return (await this.#file('settings', 'agentdir.yaml'))?.file.value ?? {};
  }

  /** Without a policy, every call needs approval. */
  async policy(): Promise<Policy> {
    return (await this.#file('policy', 'allowlist.yaml'))?.file.policy ?? emptyPolicy;
  }

  /** `agent`: an agent's name, or that of an agent of a workflow instance such as `coder@pr-123`. */
  async template(agent: string): Promise<TemplateValue | undefined> {
    const path = this.#templatePath(agent);
    if (path === undefined) return undefined;
    const member = memberOf(agent);
    if (!member || path !== runPath(member.instance)) return (await this.#file('template', path))?.file.value;
    const run = await this.run(member.instance);
    const base = run?.definitions[member.name]?.template;
    return run && memberTemplate(run, member.name, base === undefined ? undefined : await this.template(base));
  }

  /** Whether the agent's template is on disk now. `template()` still returns a template for a second after its removal. */
  hasTemplate(agent: string): boolean {
    const path = this.#templatePath(agent);
    return path !== undefined && this.#source.disk.exists(path);
  }

  /** The file that defines an agent. Of `coder@pr-123`, the instance's own definition wins over a template `coder`. */
  #templatePath(agent: string): string | undefined {
    const {index} = this.#source;
    const [own] = index.definitionsOf(`agent/${agent}`);
    return (own ?? index.definitionsOf(`agent/${agent.split('@')[0] ?? agent}`)[0])?.path;
  }

  /** A workflow instance. */
  async run(instance: string): Promise<Run | undefined> {
    return (await this.#file('run', runPath(instance)))?.file.value;
  }

  /** Why nothing may be asked or run for the agent; undefined if it may. */
  async hold(agent: string): Promise<AgentHold | undefined> {
    const held = holdOf((await this.#file('holds', HOLDS_FILE))?.file.value, agent);
    const member = held ? undefined : memberOf(agent);
    const isStopped = member !== undefined && (await this.run(member.instance))?.status === 'stopped';
    return isStopped ? {status: 'stopped', why: `the workflow instance ${member.instance} is stopped`} : held;
  }

  async playbooks(): Promise<Playbook[]> {
    const paths = this.#source.index.pathsOf('playbook');
    const files = await Promise.all(paths.map(path => this.#file('playbook', path)));
    return files.flatMap(found => found?.file.value ?? []);
  }

  async #file<K extends Served>(kind: K, path: string): Promise<FileOf<K> | undefined> {
    const {disk, known, caches, journal} = this.#source;
    const blob = known.get(path)?.good;
    if (blob === undefined) return undefined;
    let parsed = this.#parsed.get(path);
    if (parsed?.blob !== blob) {
      const text = caches.texts.get(blob) ?? versionOnDisk(disk, path, blob) ?? (await journal.read(blob))?.toString();
      // Imported on demand: loading the parsers takes long.
      const {parseFile} = await import('../check/parse-file.ts');
      const file = text === undefined ? undefined : (parseFile(path, text) as FileOf<Served> | undefined);
      parsed = {blob, file};
      this.#parsed.set(path, parsed);
    }
    return parsed.file?.kind === kind ? (parsed.file as FileOf<K>) : undefined;
  }
}

/** The text of a file, if the file still holds this version. */
export function versionOnDisk(disk: Disk, path: string, blob: string): string | undefined {
  const read = readHomeFile(disk, path);
  return read && 'text' in read && blobId(read.bytes) === blob ? read.text : undefined;
}
