import { defineConfig } from 'vitest/config'

/** Suites that start a process for each point of a crash, a guide's command or a packed project: `npm run test:long`. */
export const LONG = [
  'test/crash/**/*.test.ts',
  'test/docs/guides.test.ts',
  'test/e2e/package.test.ts',
  'test/property/fl*.test.ts',
  'test/property/folds.test.ts',
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
