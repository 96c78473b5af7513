import {defineConfig} from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/setup.ts'],
    // Most tests wait for a daemon or for git: more of them than cores.
    maxWorkers: 4,
    // What files import is loaded once a worker: no module keeps anything that another test could trip over.
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    reporters: ['default', './test/summary-reporter.ts'],
  },
});
