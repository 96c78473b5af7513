import {byPlace, type Problem} from '../formats/common/diagnostic.ts';
import {unreadFacts} from './facts.ts';
import type {Home} from './home.ts';
import {HomeIndex} from './home-index.ts';
import {factsFrom} from './read-facts.ts';

/** The settled index of a home. */
export function indexOf(home: Home): HomeIndex {
  const index = new HomeIndex();
  for (const file of home.files) index.set(file.path, factsFrom(file));
  for (const problem of home.unread) index.set(problem.file, unreadFacts(problem.file, [problem]));
  index.settle();
  return index;
}

/** All problems of a home, within files and across files, sorted by place. */
export function checkHome(home: Home): Problem[] {
  const index = indexOf(home);
  const others = [...home.credentials, ...home.missing];
  return others.length === 0 ? index.all() : [...index.all(), ...others].sort(byPlace);
}
