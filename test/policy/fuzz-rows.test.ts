import {afterAll, describe, expect, test} from 'vitest';
import type {CommandRow} from '../../src/policy/command/table/row.ts';
import {rows} from '../../src/policy/command/table/rows.ts';
import {fuzzRows, readByTable, type UseReading} from '../fuzz/fuzz-rows.ts';
import {startTracer} from '../fuzz/traced-run.ts';

const tracer = startTracer();
afterAll(() => tracer?.close());

/** `npm run fuzz` tries more, and other uses each time. */
const runs = Math.ceil(40 * Number(process.env.FUZZ ?? (process.env.TESTS === 'all' ? 1.5 : 1)));

/** A policy that allows whatever a row lists. */
const credulous = (files: UseReading['files']) => (): UseReading => ({allowed: true, files});

describe.skipIf(!tracer)('what programs do is what the table says', () => {
  if (!tracer) return;
  const tracers = [tracer];

  test('for uses that the table calls harmless', async () => {
    const {ran, violations} = await fuzzRows({rows, read: readByTable, tracers, runs, scripts: runs / 8, seed: 7});
    expect(violations).toEqual([]);
    expect(ran).toBeGreaterThan(runs / 2);
  });

  test.each<[string, CommandRow, readonly string[], RegExp]>([
    ['sort', {options: '-o=', operands: 'file*'}, ['a', 'b'], /^writes /],
    ['tar', {options: '--volno-file='}, [], /^writes /],
    ['sed', {options: '-i', operands: 'sed file*'}, ['p', 'b'], /^writes /],
    ['sed', {options: '-l', operands: 'sed file*'}, ['p', 'b'], /^skips p, but reads b/],
    ['awk', {operands: 'awk file*'}, ['b'], /^(?:runs|writes) /],
    ['strings', {options: '-n=', operands: 'file*'}, ['a', 'b'], /^reads value-file/],
    ['grep', {options: '-f=', operands: 'pattern file*'}, ['a', 'b'], /^reads @?(?:value-file|helper)/],
    ['find', {options: '-delete', style: 'words', operands: 'file*'}, [], /^writes /],
    ['xxd', {options: '-p', operands: 'file'}, ['a'], /^writes -p/],
    ['git', {subcommands: {log: {options: '--output='}}}, [], /^writes /],
    ['git', {subcommands: {log: {options: '--show-signature'}}}, [], /^runs gpg/],
    ['git', {subcommands: {grep: {options: '-O', operands: 'pattern'}}}, [], /^runs pager/],
    ['git', {subcommands: {'ls-remote': {options: '-q', operands: 'text'}}}, [], /^runs /],
  ])('a wrong row of %s %j is found out', async (command, row, files, why) => {
    const read = credulous(files);
    const {violations} = await fuzzRows({
      rows: {[command]: row},
      read,
      tracers,
      runs: command === 'grep' ? 80 : 20,
      scripts: command === 'awk' ? 40 : 0,
      seed: 1,
    });
    expect(violations.map(violation => violation.why)).toContainEqual(expect.stringMatching(why));
  });
});
