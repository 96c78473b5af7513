/** Column affinity in SQLite: compared as text or as a number. */
type Affinity = 'TEXT' | 'INTEGER' | 'NUMERIC';

export type Cell = string | number | null;

/** A row by column; missing columns are NULL. */
export type Row = {[column: string]: string | number | boolean | null};

const texts = (names: string): Record<string, Affinity> =>
  Object.fromEntries(names.split(' ').map(name => [name, 'TEXT']));

const tables = {
  tasks: {
    ...texts('id file'),
    line: 'INTEGER',
    ...texts('title state priority assignee tags parent depends_on'),
    ready: 'INTEGER',
    ...texts('blocked_by created created_by assigned started completed due'),
    ...texts('prompt description result status assign approval_required'),
    attempt: 'NUMERIC',
    ...texts('session agent type task reason command answer outcome'),
    /** JSON of all fields without a column. */
    ...texts('fields'),
  },
  notes: {...texts('task file'), line: 'INTEGER', ...texts('time who text')},
  approvals: {
    ...texts('id state'),
    recorded: 'INTEGER',
    ...texts('type agent session tool risk title command'),
    edited: 'INTEGER',
    ...texts('where created expires taint by at reason executed_at outcome file'),
    line: 'INTEGER',
  },
  executions: {
    ...texts('session parent call agent kind request status started completed'),
    ...{turns: 'INTEGER', tool_calls: 'INTEGER', tokens_used: 'INTEGER', cost_usd: 'NUMERIC'},
    ...texts('summary artifacts'),
  },
  messages: {...texts('session'), n: 'INTEGER', ...texts('role from at tool'), tokens: 'INTEGER', ...texts('text')},
  sessions: {...texts('id agent status created updated'), shared: 'INTEGER', ...texts('file'), messages: 'INTEGER'},
} satisfies Record<string, Record<string, Affinity>>;

/** Whether a query may need the texts of sessions. Other queries skip them, because reading all of them takes long. */
export function namesTalk(sql: string): boolean {
  return /executions|messages/i.test(sql);
}

export type TableName = keyof typeof tables;

export const tableNames = Object.keys(tables) as TableName[];

export const columnsOf = Object.fromEntries(tableNames.map(name => [name, Object.keys(tables[name])])) as Record<
  TableName,
  string[]
>;

/** SQL that creates the tables. A rowid encodes the position of a row: see `rowid`. */
export function createTables(): string {
  const create = tableNames.map(name => {
    const columns = Object.entries(tables[name]).map(([column, affinity]) => `"${column}" ${affinity}`);
    return `CREATE TABLE ${name} (${columns.join(', ')});`;
  });
  // No other indexes: SQLite does not know that many rows share few states, and would join by a useless index.
  const indexes = ['tasks (id)', 'notes (task)'];
  return [...create, ...indexes.map((on, n) => `CREATE INDEX by${n} ON ${on};`)].join('\n');
}

const LINES = 2 ** 24;

/** Unique for each line of each file; the default order of rows. */
export function rowid(file: number, line: number): number {
  return file * LINES + Math.min(line, LINES - 1);
}

export function cellsOf(table: TableName, row: Row): Cell[] {
  return columnsOf[table].map(column => {
    const value = row[column] ?? null;
    return typeof value === 'boolean' ? Number(value) : value;
  });
}
