import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'workflows/**/*.test.ts'],
    // By itself Vitest leaves one of two cores idle, and much here waits for disks and other processes anyway.
    maxWorkers: 3,
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
})
