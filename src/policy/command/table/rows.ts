import {actingRows} from './acting-rows.ts';
import {builderRows} from './builder-rows.ts';
import {fileRows} from './file-rows.ts';
import {gitRow} from './git-row.ts';
import {machineRows} from './machine-rows.ts';
import type {CommandRow} from './row.ts';
import {serviceRows} from './service-rows.ts';
import {textRows} from './text-rows.ts';
import {wrapperRows} from './wrapper-rows.ts';

/** Everything that is known about commands, one row each. */
export const rows: Readonly<Record<string, CommandRow>> = {
  ...wrapperRows,
  ...builderRows,
  ...actingRows,
  ...textRows,
  ...fileRows,
  ...machineRows,
  ...serviceRows,
  git: gitRow,
};
