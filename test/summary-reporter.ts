import type {Reporter, TestModule} from 'vitest/node';

/** The last line of a run, alone: `N passed, N failed`, which CI reads. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    let passed = 0;
    let failed = 0;
    for (const module of modules) {
      if (
        module.state() === 'failed' &&
        [...module.children.allTests()].every(test => test.result().state !== 'failed')
      )
        failed++;
      for (const test of module.children.allTests()) {
        const {state} = test.result();
        if (state === 'passed') passed++;
        else if (state === 'failed') failed++;
      }
    }
    // After the default reporter's own summary, which also counts skipped tests.
    process.once('exit', () => process.stdout.write(`${passed} passed, ${failed} failed\n`));
  }
}
