import { defineConfig } from 'vitest/config'
import { LONG } from './vitest.config.ts'

export default defineConfig({
  test: { include: LONG, maxWorkers: 3, testTimeout: 300_000, hookTimeout: 300_000 },
})
