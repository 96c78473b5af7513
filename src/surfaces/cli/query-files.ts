import {type Facts, unreadFacts} from '../../check/facts.ts';
import {HomeIndex} from '../../check/home-index.ts';
import {factsOf} from '../../check/read-facts.ts';
import {kindOf, stemOf} from '../../formats/common/key.ts';
import {nodeDisk} from '../../home/disk/disk.ts';
import {listHome, readHomeFile} from '../../home/read.ts';
import type {HomeSource} from '../../query/home-rows.ts';
import {namesTalk} from '../../query/tables.ts';

const ALWAYS = ['tasks', 'templates', 'workflows'];
/** Read only if the query names the table. */
const WHERE_NAMED = ['approvals', 'sessions'];

/** The folders that rows of a query are made from. */
export function queryFolders(sql: string): string[] {
  const said = sql.toLowerCase();
  const named = WHERE_NAMED.filter(name => said.includes(name) || (name === 'sessions' && namesTalk(sql)));
  return [...ALWAYS, ...named];
}

/** The files that a query needs. */
export function queryFiles(home: string, sql: string, progress: (done: number, total: number) => void): HomeSource {
  const {paths: all} = listHome(nodeDisk(home), queryFolders(sql));
  const paths = all.filter(path => path.includes('/'));
  const texts = new Map<string, string>();
  const index = new HomeIndex();
  let done = 0;
  for (const path of paths) {
    const facts = kindOf(path) === 'template' ? nameOnly(path) : read(path);
    if (facts) index.set(path, facts);
    progress(++done, paths.length);
  }
  index.settle();
  return {
    index,
    files: () => [...texts.keys()].map(path => [path, ''] as const),
    read: path => texts.get(path),
  };

  function read(path: string): Facts | undefined {
    const found = readHomeFile(nodeDisk(home), path);
    if (!found) return undefined;
    if (!('text' in found)) return unreadFacts(path, [found.problem]);
    texts.set(path, found.text);
    return factsOf(path, found.text);
  }
}

/** A query only needs names of agents, even with errors in templates. */
function nameOnly(path: string): Facts {
  return {...unreadFacts(path, []), defines: [`agent/${stemOf(path)}`]};
}
