import {writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import type {Reporter, TestModule} from 'vitest/node';

/** Which files had failures: `.ci/run` runs these once more, alone. */
const FAILED = fileURLToPath(new URL('../node_modules/.failed-tests', import.meta.url));

/** The last line of a run, alone: `N passed, N failed`, which CI reads. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    let passed = 0;
    let failed = 0;
    let skipped = 0;
    const files = modules.filter(module => module.state() === 'failed').map(({relativeModuleId}) => relativeModuleId);
    writeFileSync(FAILED, files.map(file => `${file}\n`).join(''));
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
        else skipped++;
      }
    }
    const line = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
    // After the default reporter's own summary.
    process.once('exit', () => process.stdout.write(`${line}\n`));
  }
}
