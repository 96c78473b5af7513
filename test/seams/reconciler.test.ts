import {describe, expect, it} from 'vitest';
import {policyReconciler} from '../../src/agents/approvals/new-rules.ts';
import {memoryReconciler} from '../../src/agents/calls/remember.ts';
import {Approvals} from '../../src/agents/state/approvals.ts';
import {Causes} from '../../src/agents/state/causes.ts';
import {Notes} from '../../src/agents/state/notes.ts';
import type {Daemon} from '../../src/agents/state/parts.ts';
import {Spend} from '../../src/agents/state/spend.ts';
import {Tasks} from '../../src/agents/state/task-news.ts';
import {Waits} from '../../src/agents/state/waits.ts';
import {taskReconciler} from '../../src/agents/task-files/tasks.ts';
import {spendReconciler} from '../../src/agents/turns/spend-file.ts';
import {HomeIndex} from '../../src/check/home-index.ts';
import {systemClock} from '../../src/home/disk/clock.ts';
import {type Reconciler, Reconcilers} from '../../src/loop/reconciler.ts';
import type {StartedCalls} from '../../src/loop/started-calls.ts';
import {reconcilerContract} from './reconciler-contract.ts';

const nothing = () => {};

/** What the reconcilers below use of a daemon. */
function daemon(parts: Partial<Daemon>): Daemon {
  const files = {
    disk: {clock: systemClock},
    index: new HomeIndex(),
    known: new Map(),
    looks: {lookAgain: new Set()},
    queue: {add: nothing},
  };
  return {files, ...parts} as unknown as Daemon;
}

function noted(): Notes {
  const notes = new Notes();
  notes.add('memory/notes.md', {text: 'Redis is on port 6380', agent: 'coder', approval: undefined, written: nothing});
  return notes;
}

reconcilerContract('memory', () => memoryReconciler(daemon({notes: noted()})), {
  samples: [
    {path: 'memory/notes.md', text: '# Notes\n'},
    {path: 'memory/other.md', text: '# Other\n'},
  ],
  elsewhere: 'tasks/a.task.md',
});

reconcilerContract('tasks', () => taskReconciler(daemon({tasks: new Tasks()})), {
  samples: [
    {path: 'tasks/a.task.md', text: '## TODO\n- [x] @human "Check Redis"\n'},
    {path: 'tasks/b.task.md', text: '## TODO\n- [ ] "Check Redis"\n  id: task-1\n'},
  ],
  elsewhere: 'memory/notes.md',
});

reconcilerContract(
  'spend',
  () => {
    const spend = new Spend({
      causes: new Causes(),
      onDue: nothing,
      onNewDay: nothing,
      clock: {...systemClock, now: () => Date.parse('2026-01-31T12:00:00Z')},
    });
    spend.add('coder', {input_tokens: 10, output_tokens: 5}, '2026-01-31T12:00:00.000Z');
    spend.close();
    return spendReconciler(daemon({spend}));
  },
  {
    samples: [{path: 'state/spend.yaml', text: 'day: 2026-01-30\nagents: {}\n'}],
    elsewhere: 'state/schedules.yaml',
  },
);

reconcilerContract(
  'policy',
  () => {
    const approvals = new Approvals(systemClock, new Waits(), {} as StartedCalls);
    approvals.rules.set('abc', [{match: 'git status'} as never]);
    return policyReconciler(daemon({approvals}));
  },
  {
    samples: [{path: 'allowlist.yaml', text: 'version: 1\ncommands:\n  allow:\n    - git log\n'}],
    elsewhere: 'agentdir.yaml',
  },
);

/** A kind that no part of the daemon knows anything of: its files get a title. */
const titled: Reconciler = {
  kind: 'memory',
  owns: path => path.startsWith('memory/titled/'),
  settle: ({path, text = ''}) =>
    text.startsWith('# ') ? undefined : {text: `# ${path}\n${text}`, entry: {words: 'title', cause: 'fill-in'}},
  create: path => ({text: `# ${path}\n`, entry: {words: 'made', cause: 'fill-in'}}),
};

reconcilerContract('a second implementation', () => titled, {
  samples: [
    {path: 'memory/titled/a.md', text: 'text\n'},
    {path: 'memory/titled/b.md', text: '# B\n'},
  ],
  elsewhere: 'memory/a.md',
});

describe('the registry', () => {
  const all: Reconciler = {kind: 'memory'};

  it('asks the first that owns a path, and none for other kinds', () => {
    const reconcilers = new Reconcilers([titled, all]);
    expect(reconcilers.for('memory/titled/a.md', 'memory')).toBe(titled);
    expect(reconcilers.for('memory/a.md', 'memory')).toBe(all);
    expect(reconcilers.for('templates/a.agent.yaml', 'template')).toBeUndefined();
  });

  it('takes more kinds later', () => {
    const reconcilers = new Reconcilers();
    expect([...reconcilers]).toEqual([]);
    reconcilers.add([titled]);
    expect([...reconcilers]).toEqual([titled]);
    expect(reconcilers.for('memory/titled/a.md', 'memory')).toBe(titled);
  });
});
