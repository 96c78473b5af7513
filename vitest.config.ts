import {defineConfig} from 'vitest/config';
import {BaseSequencer, type TestSpecification} from 'vitest/node';

/** `npm test` has two and a half minutes. These are long, and in the gate (TESTS=all, .ci/run). */
const gateOnly = [
  'test/chat/terminal.test.ts',
  'test/cli/approvals.test.ts',
  'test/cli/decide.test.ts',
  'test/cli/demo.test.ts',
  'test/cli/fork.test.ts',
  'test/cli/history.test.ts',
  'test/cli/json.test.ts',
  'test/cli/mail.test.ts',
  'test/cli/query.test.ts',
  'test/cli/send.test.ts',
  'test/cli/sessions.test.ts',
  'test/cli/start.test.ts',
  'test/cli/summarize-home.test.ts',
  'test/cli/task.test.ts',
  'test/cli/undo-offline.test.ts',
  'test/cli/undo.test.ts',
  'test/cli/verify.test.ts',
  'test/cli/wait.test.ts',
  'test/cli/webhook.test.ts',
  'test/cli/workspace.test.ts',
  'test/cli/wrap.test.ts',
  'test/daemon/commits-of-a-fix.test.ts',
  'test/daemon/after-a-crash.test.ts',
  'test/daemon/approvals-crash.test.ts',
  'test/daemon/approvals-vim.test.ts',
  'test/daemon/bounds.test.ts',
  'test/daemon/cache.test.ts',
  'test/daemon/compaction-kills.test.ts',
  'test/daemon/compaction.test.ts',
  'test/daemon/claim.test.ts',
  'test/daemon/commands.test.ts',
  'test/daemon/committed-stale.test.ts',
  'test/daemon/connectors.test.ts',
  'test/daemon/crash-labels.test.ts',
  'test/daemon/crash-random.test.ts',
  'test/daemon/crash-turns.test.ts',
  'test/daemon/delegation-ask.test.ts',
  'test/daemon/delegation-crash.test.ts',
  'test/daemon/delegation.test.ts',
  'test/daemon/descriptors.test.ts',
  'test/daemon/editors.test.ts',
  'test/daemon/faults.test.ts',
  'test/daemon/fsync.test.ts',
  'test/daemon/gone-home.test.ts',
  'test/daemon/inbox-crash.test.ts',
  'test/daemon/inbox-rotation.test.ts',
  'test/daemon/inbox.test.ts',
  'test/daemon/limits-turns.test.ts',
  'test/daemon/limits.test.ts',
  'test/daemon/many.test.ts',
  'test/daemon/messages-crash.test.ts',
  'test/daemon/odd-files.test.ts',
  'test/daemon/own-again.test.ts',
  'test/daemon/permissions.test.ts',
  'test/daemon/person-git.test.ts',
  'test/daemon/replay.test.ts',
  'test/daemon/schedules.test.ts',
  'test/daemon/slack-story.test.ts',
  'test/daemon/stale.test.ts',
  'test/daemon/story.test.ts',
  'test/daemon/taint.test.ts',
  'test/daemon/task-changes.test.ts',
  'test/daemon/task-ends.test.ts',
  'test/daemon/task-news.test.ts',
  'test/daemon/task-waits.test.ts',
  'test/daemon/together.test.ts',
  'test/daemon/turn-recovery.test.ts',
  'test/daemon/workflows.test.ts',
  'test/daemon/workspaces.test.ts',
  'test/docs-commands.test.ts',
  'test/effects/sandbox-run.test.ts',
  'test/effects/sandbox-state.test.ts',
  'test/effects/workspace-history.test.ts',
  'test/formats/round-trip.test.ts',
  'test/home/journal-any.test.ts',
  'test/home/journal-beside.test.ts',
  'test/home/journal-crash.test.ts',
  'test/node-versions.test.ts',
  'test/policy/fuzz-rows.test.ts',
  'test/readme.test.ts',
  'test/redteam/agents.test.ts',
  'test/redteam/approval-texts.test.ts',
  'test/redteam/approval-world.test.ts',
  'test/redteam/approvals.test.ts',
  'test/redteam/fetch.test.ts',
  'test/redteam/kept-pages.test.ts',
  'test/redteam/secrets.test.ts',
  'test/redteam/tasks.test.ts',
  'test/redteam/terminal.test.ts',
  'test/redteam/webhook.test.ts',
  'test/redteam/workspace-git.test.ts',
  'test/soak.test.ts',
];
/** These take longest: what begins last should not be what all wait for. */
const first = [
  'approvals-crash',
  'crash-labels',
  'crash-random',
  'crash-turns',
  'cache',
  'messages-crash',
  'journal-crash',
  'readme.test',
  'simulation',
  'every-step',
  'fuzz-rows',
];
/** These take a lot of memory, which a worker keeps. The larger it is, the longer it takes to start another process. */
const last = ['formats', 'policy'];
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({moduleId}: TestSpecification) => {
      if (first.some(name => moduleId.includes(`/${name}`))) return 0;
      return last.some(folder => moduleId.includes(`/test/${folder}/`)) ? 2 : 1;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

/** What is named runs whole, with what `npm test` leaves to the gate: `thorough` in test/cli/run.ts. */
const isNamed = process.argv.some(word => /\btest\//.test(word));
const all = process.env.TESTS === 'all' || process.env.FUZZ !== undefined || isNamed;

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['node_modules/**', ...(all ? [] : gateOnly)],
    env: all ? {TESTS: 'all'} : {},
    setupFiles: ['test/setup.ts'],
    sequence: {sequencer: LongFirst},
    // Most tests wait for a daemon or for git: more of them than cores.
    maxWorkers: 5,
    // What files import is loaded once a worker: no module keeps anything that another test could trip over.
    isolate: false,
    // Nothing fails for being slow: see `until` in test/cli/run.ts, which gives up earlier and says what it saw.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    reporters: ['default', './test/summary-reporter.ts'],
  },
});
