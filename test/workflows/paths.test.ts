import { afterEach, expect, test, vi } from 'vitest'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.resetModules()
})

test.each([
  ['/srv/upshot', '/srv/upshot/reports'],
  ['', `${process.cwd()}/data/reports`],
])('the workflows write below UPSHOT_DATA_DIR=%j, as the app does', async (folder, reports) => {
  vi.stubEnv('UPSHOT_DATA_DIR', folder)
  vi.resetModules()
  const { paths } = await import('../../config/paths.ts')
  expect(paths.reports).toBe(reports)
})
