/**
 * What was done, to be accounted for in the end. A mark is a word that stands nowhere else: what a person wrote is known by it,
 * wherever it went.
 */
export function openLedger() {
  let count = 0;
  const ledger = {
    mark: () => `m${String(count++).padStart(5, '0')}q`,
    /** Messages of people: {mark, path, version}; the last version is what must stand in the session. */
    messages: [],
    /** Lines that must be somewhere, byte for byte: {path, line, what}. */
    lines: [],
    /** Tasks of people: {mark, path, agent, state}. */
    tasks: [],
    /** Lines of inboxes: {mark, file, agent, generation}, in order. */
    inbox: [],
    /** Lines that a full disk tore: they cannot be delivered. */
    torn: [],
    /** Decisions by approval: {decision, command, answer}. */
    decisions: new Map(),
    /** Replies to words that a person changed while the model thought. */
    stale: new Set(),
    /** Commits that a person took out of the history. */
    rewritten: new Set(),
    /** Another object each time the person begins or ends to do so; `under`: how many of them just now. */
    rewriting: {under: 0},
    /** Files with errors that nobody may write, by path: {bytes, way}. */
    spoiled: new Map(),
    /** Commits that daemons told of. */
    committed: new Map(),
    /** When they told so of a file last. */
    committedAt: new Map(),
    counts: {
      turns: 0,
      edits: 0,
      staleSaves: 0,
      starts: 0,
      kills: 0,
      crashes: 0,
      stops: 0,
      fullDisks: 0,
      badFiles: 0,
      gitCommands: 0,
      gitFailed: 0,
      inboxLines: 0,
      rotations: 0,
      approvals: 0,
      messagesChanged: 0,
      checks: 0,
      glances: 0,
    },
    /** What stood in conflicts/ and was taken over. */
    kept: '',
    labels: new Map(),
    violations: [],
    seen: new Set(),
  };
  return ledger;
}

/** Once for each place, however often it is looked at. */
export function violate(ledger, invariant, what, detail = '') {
  const key = `${invariant} ${what}`;
  if (ledger.seen.has(key)) return;
  ledger.seen.add(key);
  ledger.violations.push({invariant, what, detail: String(detail).slice(0, 1500), at: new Date().toISOString()});
}
