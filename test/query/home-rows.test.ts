import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {parseHome} from '../../src/check/home.ts';
import {HomeIndex} from '../../src/check/home-index.ts';
import {namesOf} from '../../src/check/names.ts';
import {factsOf} from '../../src/check/read-facts.ts';
import {taskRows} from '../../src/check/rows.ts';
import {HomeRows} from '../../src/query/home-rows.ts';
import type {TableChange} from '../../src/query/row-index.ts';
import {type Cell, columnsOf, type TableName, tableNames} from '../../src/query/tables.ts';
import {runs} from '../arbitrary.ts';
import {someFile} from '../check/some-files.ts';

/** What SQLite would hold. */
class Tables {
  readonly #rows = new Map<TableName, Map<number, Cell[]>>(tableNames.map(name => [name, new Map()]));

  apply(changes: readonly TableChange[]): number {
    let count = 0;
    for (const {table, remove, put} of changes) {
      const rows = this.#rows.get(table);
      for (const key of remove) expect(rows?.delete(key), 'what goes was there').toBe(true);
      for (const [key, cells] of put) rows?.set(key, cells);
      count += remove.length + put.length;
    }
    return count;
  }

  /** In an order of their own, by column. */
  table(name: TableName): Record<string, Cell>[] {
    const rows = [...(this.#rows.get(name)?.values() ?? [])].map(cells =>
      Object.fromEntries(columnsOf[name].map((column, i) => [column, cells[i] ?? null])),
    );
    const key = (row: Record<string, Cell>) => `${row.file} ${String(row.line ?? 0).padStart(6, '0')}`;
    return rows.sort((a, b) => (key(a) < key(b) ? -1 : 1));
  }
}

/** A home in memory. */
class Files {
  readonly texts = new Map<string, string>();
  readonly index = new HomeIndex();
  read: string[] = [];

  set(path: string, text: string): void {
    this.texts.set(path, text);
    this.index.set(path, factsOf(path, text));
  }

  remove(path: string): void {
    if (this.texts.delete(path)) this.index.remove(path);
  }

  source() {
    this.index.settle();
    this.read = [];
    return {
      index: this.index,
      files: () => this.texts,
      read: (path: string) => {
        this.read.push(path);
        return this.texts.get(path);
      },
    };
  }
}

async function synced(rows: HomeRows, files: Files): Promise<TableChange[]> {
  await rows.sync(files.source());
  return rows.takeChanges();
}

async function fresh(files: Files): Promise<Tables> {
  const tables = new Tables();
  const rows = new HomeRows();
  await rows.sync(files.source());
  tables.apply(rows.takeChanges());
  return tables;
}

const step = fc.oneof(
  {weight: 6, arbitrary: someFile.map(file => ({...file, what: 'set' as const}))},
  {weight: 2, arbitrary: someFile.map(file => ({...file, what: 'remove' as const}))},
  {weight: 2, arbitrary: fc.record({what: fc.constant('push down' as const), pick: fc.nat()})},
  {weight: 3, arbitrary: fc.constant({what: 'sync' as const})},
);

describe('rows that are kept up to date', () => {
  it('are those that are made from the files as they are, whatever happened to them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, {maxLength: 30, size: 'max'}), async steps => {
        const files = new Files();
        const kept = new HomeRows();
        const tables = new Tables();
        for (const action of steps) {
          if (action.what === 'set') files.set(action.path, action.text);
          else if (action.what === 'remove') files.remove(action.path);
          else if (action.what === 'sync') tables.apply(await synced(kept, files));
          else {
            const paths = [...files.texts.keys()].filter(path => path.startsWith('tasks/'));
            const path = paths[action.pick % (paths.length || 1)];
            if (path) files.set(path, `\n${files.texts.get(path)}`);
          }
        }
        tables.apply(await synced(kept, files));
        const whole = new Tables();
        for (const part of kept.takeAll()) whole.apply(part);
        const other = await fresh(files);
        for (const name of tableNames) {
          expect(tables.table(name)).toEqual(other.table(name));
          expect(whole.table(name)).toEqual(other.table(name));
        }
        expect(tables.apply(await synced(kept, files)), 'nothing is done twice').toBe(0);
      }),
      runs(150),
    );
  });

  it('are the rows of agentdir tasks --json', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(someFile, {maxLength: 20, size: 'max'}), async all => {
        const files = new Files();
        for (const {path, text} of all) files.set(path, text);
        const tables = await fresh(files);
        const paths = [...files.texts.keys()].sort();
        const home = parseHome(paths.map(path => ({path, text: files.texts.get(path) ?? ''})));
        const rows = taskRows(home, namesOf(home), path => files.index.problems(path)).map(row => ({
          ...row,
          ready: Number(row.ready),
        }));
        expect(tables.table('tasks')).toMatchObject(rows);
      }),
      runs(100),
    );
  });
});

describe('a change', () => {
  const task = (id: string, box: string, waits?: string) =>
    `- [${box}] @a "${id}"\n  id: ${id}\n${waits ? `  depends_on: ${waits}\n` : ''}`;
  const home = () => {
    const files = new Files();
    files.set('templates/a.agent.yaml', 'id: a\ntype: t\nsystem_prompt: p\ncapabilities: [read_file]\n');
    files.set('tasks/a.task.md', `## TODO\n${task('one', ' ')}${task('two', ' ')}`);
    files.set(
      'tasks/b.task.md',
      `## TODO\n${task('three', ' ', 'one')}${task('four', ' ', 'two')}${task('five', ' ')}`,
    );
    return files;
  };
  const named = (tables: Tables, id: string) => tables.table('tasks').find(row => row.id === id);

  it('is read from its file alone, and reaches what depends on it in others', async () => {
    const files = home();
    const kept = new HomeRows();
    const tables = new Tables();
    tables.apply(await synced(kept, files));
    expect(files.read).toEqual(['tasks/a.task.md', 'tasks/b.task.md']);
    expect(named(tables, 'three')).toMatchObject({ready: 0, blocked_by: 'one'});
    files.set('tasks/a.task.md', `## TODO\n${task('one', 'x')}${task('two', ' ')}`);
    expect(tables.apply(await synced(kept, files)), 'one and three').toBe(2);
    expect(files.read).toEqual(['tasks/a.task.md']);
    expect(named(tables, 'three')).toMatchObject({ready: 1, blocked_by: null});
    expect(named(tables, 'four')).toMatchObject({ready: 0, blocked_by: 'two'});
  });

  it('that breaks a file leaves its rows, and none is ready', async () => {
    const files = home();
    const kept = new HomeRows();
    const tables = new Tables();
    tables.apply(await synced(kept, files));
    expect(named(tables, 'five')).toMatchObject({ready: 1});
    files.remove('templates/a.agent.yaml');
    tables.apply(await synced(kept, files));
    expect(files.read).toEqual([]);
    expect(named(tables, 'five')).toMatchObject({ready: 0});
  });
});
