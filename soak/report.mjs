/** A daemon's heap has come to rest by the middle of a life of this length, unless it leaks. */
const LONG_S = 240;
const KB = bytes => `${(bytes / 1024).toFixed(1)} KB`;

/** What was done and what came of it: text, or with --json one value. */
export function report(world, keep) {
  const {options, ledger, home, sizes, memory, cost, broken} = world;
  const {counts, violations} = ledger;
  const grown = (what, to) =>
    sizes?.[to] ? (sizes[to][what] - sizes.before[what]) / Math.max(1, counts.turns) : undefined;
  const result = {
    seed: options.seed,
    seconds: Math.round((performance.now() - world.began) / 1000),
    agents: options.agents,
    ...counts,
    deliveries: world.delivered,
    conflicts: ledger.conflicts ?? 0,
    crashLabels: Object.fromEntries(ledger.labels),
    memory,
    turnMs: cost,
    bytesPerTurn: {git: grown('git', 'after'), files: grown('files', 'after'), gitAfterGc: grown('git', 'gc')},
    sabotage: broken,
    violations,
    repeat: `npm run soak -- --seconds ${options.seconds} --seed ${options.seed} --agents ${options.agents}${options.calm ? ' --calm' : ''}`,
    home: keep ? home : undefined,
  };
  if (options.json) return console.log(JSON.stringify(result, null, 1));
  const rows = [
    ['seed', `${options.seed}, ${options.agents} agents, ${result.seconds} s`],
    ['turns', counts.turns],
    [
      'edits by people',
      `${counts.edits}, ${counts.staleSaves} of them from a stale buffer; ${result.conflicts} conflicts kept`,
    ],
    ['messages changed while a model thought', counts.messagesChanged],
    [
      'daemon',
      `${counts.starts} starts, ${counts.kills} kills, ${counts.crashes} crashes at ${ledger.labels.size} labels, ${counts.stops} stops`,
    ],
    ['full disks', world.disk.mounted ? counts.fullDisks : 'none: they need the right to mount a tmpfs'],
    ['bad files', counts.badFiles],
    ["a person's git commands", `${counts.gitCommands}, ${counts.gitFailed} met a lock`],
    [
      'deliveries',
      `${result.deliveries ?? '?'}, ${counts.inboxLines} of them lines of inboxes, with ${counts.rotations} rotations`,
    ],
    ['approvals decided', counts.approvals],
    ['one turn', cost ? `${cost.before?.toFixed(0)} ms at the start, ${cost.after?.toFixed(0)} ms in the end` : '?'],
    [
      'memory',
      memory?.mb
        ? `${memory.mb} MB after ${memory.seconds} s, ${memory.slope?.toFixed(1) ?? '?'} MB/min in the second half of them${memory.seconds < LONG_S ? ' (too short to tell: --calm --seconds 600)' : ''}, at most ${memory.most} MB`
        : '?',
    ],
    [
      'growth a turn',
      sizes?.gc
        ? `git ${KB(grown('git', 'after'))}, after gc ${KB(grown('git', 'gc'))}, files ${KB(grown('files', 'after'))}`
        : '?',
    ],
    ['checks', `${counts.checks} of everything at rest, ${counts.glances} of some while all were at work`],
    ['violations', violations.length || 'none'],
  ];
  const wide = Math.max(...rows.map(([name]) => name.length));
  for (const [name, value] of rows) console.log(`${name.padEnd(wide)}  ${value}`);
  for (const {name, seen} of broken ?? [])
    console.log(`${seen === null ? '– nothing to break' : seen ? '✓ seen' : '✗ NOT SEEN'}: ${name}`);
  for (const {invariant, what, detail} of violations)
    console.log(
      `\n✗ ${Number.isInteger(invariant) ? `invariant ${invariant}` : invariant}: ${what}${detail && `\n${detail.replace(/^/gm, '    ')}`}`,
    );
  if (keep) console.log(`\nThe home is in ${home}\nTo repeat: ${result.repeat}`);
}
