import {mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';

const words =
  'session agent value result error index state string number return const import export function await task message line path file read write open close parse check token model reply queue watch merge entry home folder name text'.split(
    ' ',
  );

/** The same numbers each time. */
function random(seed) {
  let state = seed;
  return below => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/**
 * What a project looks like: `count` files that are searched in count / 20 folders, up to five deep, 1 to 8 KB of
 * source-like text each, with some binary files, ignore files, and beside them a node_modules and a build folder.
 */
export function makeTree(root, count) {
  const pick = random(7);
  const word = () => words[pick(words.length)];
  const capital = () => word().replace(/^./, first => first.toUpperCase());
  const line = () => {
    switch (pick(5)) {
      case 0:
        return `import {${word()}${capital()}} from './${word()}.ts';`;
      case 1:
        return `  const ${word()}${capital()} = ${word()}(${word()}, ${pick(1000)});`;
      case 2:
        return `  if (${word()}.${word()} !== undefined) return {${word()}: ${word()}, ${word()}: '${word()} ${word()}'};`;
      case 3:
        return `  // ${word()} ${word()} ${word()} ${word()} ${word()} ${word()}`;
      default:
        return '';
    }
  };
  const text = () => {
    const size = 1024 + pick(7 * 1024);
    let out = '';
    while (out.length < size) out += `${line()}\n`;
    return out;
  };
  const write = (path, content) => {
    mkdirSync(dirname(join(root, path)), {recursive: true});
    writeFileSync(join(root, path), content);
  };

  const folders = [];
  for (let i = 0; i < count / 20; i++) {
    const parent = i % 4 === 0 ? 'packages' : (folders[pick(folders.length)] ?? 'packages');
    folders.push(`${parent.split('/').length > 4 ? 'packages' : parent}/${word()}-${i}`);
  }
  const endings = ['.ts', '.ts', '.ts', '.ts', '.test.ts', '.js', '.js', '.json', '.md', '.css'];
  for (let i = 0; i < count; i++) {
    const folder = folders[i % folders.length];
    if (i % 50 === 49) write(`${folder}/image-${i}.png`, Buffer.from(`\x89PNG\0${text()}`, 'latin1'));
    else {
      const rare = i % 500 === 0 ? `export const needleInHaystack${i} = 1;\n` : '';
      const some = i % 200 === 0 ? `function handle${i}Request(error) {}\n` : '';
      write(`${folder}/${word()}-${i}${i % 40 === 7 ? '.yaml' : endings[i % endings.length]}`, text() + rare + some);
    }
  }
  write('.gitignore', 'node_modules/\nbuild/\n*.log\n!keep.log\n/coverage\n');
  for (const folder of folders.slice(0, 20)) write(`${folder}/.gitignore`, '*.tmp\n/generated/\n');
  for (let i = 0; i < count / 10; i++) write(`node_modules/module-${i % 50}/file-${i}.js`, text());
  for (let i = 0; i < count / 50; i++) write(`build/out-${i}.js`, text());
}
