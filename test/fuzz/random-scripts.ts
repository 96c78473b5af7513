import type {Random} from './random.ts';

/** Pieces of scripts. Among them are uses that act, and everything that may hide where one begins. */
const pieces: Readonly<Record<string, readonly string[]>> = {
  awk: `/ / / [ ] [^ [] [^] [[:alpha:] [:digit:] [.-.] \\/ \\] \\[ \\\\ " \\" ; ; 1 x x= ( ) $ ++ -- $1 NF length in ~ ! , { }
    print > "out" 2> - ^ .1 1e y = == | : ? if(1) else while(0) system("id") system("id") print>"out" getline<"a" print|"id"
    "id"|getline function\u00a0f(x){ f( && /= sub( printf("x")>"out" BEGIN{ END{ y=1/\u00a02`.split(/[ \n]+/),
  sed: `s / , | y a i c e w r W R w\u00a0out e\u00a0id r\u00a0a ! { } ; \n 1 $ 2, ~ + x p n d q l = b t : [ ] [^ [] [[:a:] [.].] [=]=] ]/ /e; e;/ \\ \\/ \\n \\x2f . * & g
    I M m s/a/b/ s/a/b/e s/a/b/w\u00a0out y/a/b/ # 0x \\d047 \\o57`.split(/[ ]+/),
};

/** Scripts made of random pieces, for a command whose operand is one. */
export function randomScripts(command: string, count: number, random: Random): string[] {
  const own = pieces[command];
  if (!own) return [];
  const soup = (most: number): string =>
    random
      .some(0, most, () => random.pick(own) + (random.chance(0.3) ? ' ' : ''))
      .join('')
      .replaceAll('\u00a0', ' ');
  return Array.from({length: count}, () => {
    if (command !== 'awk' || random.chance(0.4)) return soup(12);
    return `BEGIN{${soup(8)}; system("id"); ${random.chance(0.5) ? 'y=1/ 2' : soup(4)}}`;
  });
}
