import {existsSync, lstatSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {agentName} from '../home.mjs';
import {violate} from '../ledger.mjs';
import {agentdir, pause, until} from '../run-command.mjs';

/** Ways to spoil a file. Each says whether `agentdir check` must then call it wrong. */
const ways = {
  syntax: {
    text: text => `${text}\n  broken: [\n\t"never closed\n`,
    kinds: ['session', 'template', 'policy'],
    error: true,
  },
  binary: {
    text: text => Buffer.concat([Buffer.from(text.slice(0, 40)), Buffer.from([0xff, 0xfe, 0, 1, 2, 0xc3])]),
    error: true,
  },
  fence: {text: text => `${text}\n\`\`\`\nnever closed\n`, kinds: ['tasks'], error: true},
  half: {text: text => text.slice(0, Math.floor(text.length * 0.6)), kinds: ['template', 'policy'], error: false},
  huge: {text: text => `${text}${'# much\n'.repeat(400_000)}`, kinds: ['template', 'policy'], error: false},
  empty: {text: () => '', kinds: ['template'], error: true},
  removed: {kinds: ['template', 'tasks', 'memory'], error: false},
  link: {kinds: ['template'], error: false},
};

/** Somebody spoils a file and mends it some seconds later. Meanwhile nobody may write it, and `check` must know it. */
export function badFileEdits(world) {
  const {random, ledger, hands, home, disk, options} = world;
  const targets = [
    [3, () => ['tasks', `tasks/work-${random.number(0, 8)}.task.md`]],
    [3, () => ['template', `templates/${agentName(random.number(0, options.agents))}.agent.yaml`]],
    [3, () => ['session', random.pick(world.sessions.paths)]],
    [1, () => ['policy', 'allowlist.yaml']],
    [1, () => ['memory', `memory/notes-${random.number(0, 4)}.md`]],
  ];

  async function spoil() {
    if (disk.isFull()) return;
    const [kind, path] = random.weighted(targets)();
    const fitting = Object.entries(ways).filter(([, way]) =>
      (way.kinds ?? ['session', 'template', 'policy', 'tasks']).includes(kind),
    );
    if (!path || fitting.length === 0) return;
    const [name, way] = random.pick(fitting);
    await hands.alone(path, async full => {
      if (!existsSync(full) || lstatSync(full).isSymbolicLink()) return;
      const before = readFileSync(full);
      const aside = join(home, 'own', `aside-${ledger.counts.badFiles}`);
      const bad = way.text?.(before.toString());
      if (bad !== undefined) await replaceBy(full, bad);
      else if (name === 'removed') rmSync(full);
      else {
        writeFileSync(aside, before);
        rmSync(full);
        symlinkSync(aside, full);
      }
      ledger.counts.badFiles++;
      if (bad !== undefined && way.error) ledger.spoiled.set(path, {bytes: Buffer.from(bad), way: name});
      await pause(random.between(200, 3_500));
      if (bad !== undefined) await judge(path, full, Buffer.from(bad), way.error, name);
      ledger.spoiled.delete(path);
      await replaceBy(full, before);
      if (name === 'link') rmSync(aside, {force: true});
    });
  }

  /** A new file in its place, as soon as there is room for it. */
  const replaceBy = (full, bytes) =>
    until(
      () => {
        try {
          writeFileSync(`${full}~`, bytes);
          renameSync(`${full}~`, full);
          return true;
        } catch (error) {
          rmSync(`${full}~`, {force: true});
          if (error.code !== 'ENOSPC') throw error;
          return false;
        }
      },
      60_000,
      100,
    );

  async function judge(path, full, bad, error, name) {
    if (!error) return;
    const now = existsSync(full) ? readFileSync(full) : Buffer.alloc(0);
    if (!now.equals(bad)) violate(ledger, 1, `${path} was written although it has errors (${name})`, now.toString());
    const {stdout, code} = await agentdir(home, 'check', '--json', path);
    if (code !== 4 && !disk.isFull()) violate(ledger, 1, `check does not know that ${path} is wrong (${name})`, stdout);
  }

  return {spoil};
}
