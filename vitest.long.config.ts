import { defineConfig } from 'vitest/config'
import { LONG, SHARED } from './vitest.config.ts'

export default defineConfig({
  test: {
    ...SHARED,
    // Both runs test the contract, each with its own stores: see test/contract/describe-stores.ts.
    include: [...LONG, 'test/contract/*.test.ts'],
    globalSetup: 'test/support/postgres-setup.ts',
    provide: { isLongRun: true },
    isolate: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
