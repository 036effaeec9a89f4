import { defineConfig } from 'vitest/config'

/** Suites that start a process for each command, crash or guide, or a browser: `npm run test:long`. */
export const LONG = [
  'test/cli/commands/app/dev.test.ts',
  'test/crash/**/*.test.ts',
  'test/docs/{api,guides}.test.ts',
  'test/e2e/{burst,package,roles,rotation}.test.ts',
  'test/property/{flow,folds}.test.ts',
  'test/sandbox/pages/in-browser.test.ts',
]

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'workflows/**/*.test.ts'],
    exclude: ['node_modules/**', ...LONG],
    // By itself Vitest leaves one of two cores idle, and much here waits for disks and other processes anyway.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
