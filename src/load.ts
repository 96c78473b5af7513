import {type Home, parseHome} from './check/home.ts';
import {listHome, readHomeFile} from './store/read.ts';

export interface LoadedHome {
  home: Home;
  texts: ReadonlyMap<string, string>;
}

/** Read and parse a whole home, as it is on disk now. */
export function loadHome(dir: string): LoadedHome {
  const texts = new Map<string, string>();
  const {paths, problems: unreadable} = listHome(dir);
  for (const path of paths) {
    const read = readHomeFile(dir, path);
    if (read && 'text' in read) texts.set(path, read.text);
    else if (read) unreadable.push(read.problem);
  }
  const home = parseHome([...texts].map(([path, text]) => ({path, text})));
  home.problems.push(...unreadable);
  return {home, texts};
}
