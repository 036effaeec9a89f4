import { defineConfig } from 'vitest/config'
import { LONG } from './vitest.config.ts'

export default defineConfig({
  test: {
    // The contract is tested in both runs, each with its own stores: see test/contract/describe-stores.ts.
    include: [...LONG, 'test/contract/*.test.ts'],
    provide: { isLongRun: true },
    maxWorkers: 3,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
