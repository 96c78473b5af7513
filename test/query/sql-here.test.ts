import {describe, expect, it} from 'vitest';
import {SqlHere} from '../../src/query/sql-here.ts';

const most = {rows: 10, text: 1_000, cell: 100};

describe('SQLite in this thread', () => {
  it('a query that takes too long is ended, and nothing more is to be asked', async () => {
    const sqlite = new SqlHere();
    const sql = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n';
    expect(await sqlite.select({sql, values: {}, most}, 200)).toMatchObject({late: true});
    expect(sqlite.ended).toBe(true);
  });

  it('one long function of SQLite is ended, too', async () => {
    const sql = "SELECT hex(zeroblob(50000000)) LIKE '%' || hex(randomblob(2000)) || '%1'";
    expect(await new SqlHere().select({sql, values: {}, most}, 200)).toMatchObject({late: true});
  });

  it('answers in time, and tells what is wrong', async () => {
    const sqlite = new SqlHere();
    const put = [[1, ['a', 'f', 1, null, null, 'T']] as [number, (string | number | null)[]]];
    expect(await sqlite.load([{table: 'notes', remove: [], put}])).toEqual({done: true});
    const asked = await sqlite.select({sql: 'SELECT task, text FROM notes', values: {}, most}, 5_000);
    expect(asked).toMatchObject({rows: [{task: 'a', text: 'T'}], more: false});
    expect(await sqlite.select({sql: 'SELECT x FROM notes', values: {}, most}, 5_000)).toMatchObject({
      error: expect.stringContaining('no such column'),
    });
  });
});
