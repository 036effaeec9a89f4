import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfig } from '../../../src/project/config/load-config.ts'
import { listUnknown } from '../../../src/project/config/variables.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const DAY = 86_400_000

function project(file?: string): string {
  const root = tempFolder()
  if (file !== undefined) {
    mkdirSync(join(root, 'config'))
    writeFileSync(join(root, 'config/upshot.config.ts'), `export default ${file}`)
  }
  return root
}

test('loadConfig gives each role its own admin port unless the environment names one', async () => {
  const adminOf = async (environment: Record<string, string>) => (await loadConfig(environment, project())).ports.admin
  const roles = ['all', 'receiver', 'worker', 'scheduler'].map((role) => adminOf({ UPSHOT_ROLE: role }))
  expect(await Promise.all(roles)).toEqual([4701, 4701, 4702, 4703])
  expect(await adminOf({ UPSHOT_ROLE: 'worker', UPSHOT_ADMIN_PORT: '0' })).toBe(0)
})

test('loadConfig takes retention from the project file, or 7, 30, 90 and 365 days', async () => {
  expect((await loadConfig({}, project())).retention).toEqual({
    runs: 30 * DAY,
    failures: 90 * DAY,
    refusals: 7 * DAY,
    deliveries: 90 * DAY,
    payloads: 90 * DAY,
    audit: 365 * DAY,
    effects: null,
    files: 90 * DAY,
  })
  const file = `{ retention: { runs: 'forever', payloads: '12h' } }`
  expect((await loadConfig({}, project(file))).retention).toMatchObject({
    runs: null,
    payloads: DAY / 2,
    refusals: 7 * DAY,
  })
  const none = loadConfig({}, project(`{ retention: { runs: '0d', audit: 30, files: 0 } }`))
  await expect(none).rejects.toThrow(
    /retention\.runs: must be at least "1h".*\n.*audit: must be.*\n.*files: must be[^\n]*$/,
  )
})

test('a misspelt variable is found with the name that is most alike', () => {
  const given = { UPSHOT_PROT: '1', UPSHOT_DATABASE_READ_ULR: 'x', UPSHOT_COLOUR: 'x', UPSHOT_HOTS: '', OTHER: 'x' }
  const known = { UPSHOT_PORT: '1', UPSHOT_SERVER: 'x', UPSHOT_MY_TOKEN: 'x' }
  expect(listUnknown({ ...given, ...known }, ['UPSHOT_MY_TOKEN'])).toEqual([
    { name: 'UPSHOT_PROT', like: 'UPSHOT_PORT' },
    { name: 'UPSHOT_DATABASE_READ_ULR', like: 'UPSHOT_DATABASE_READ_URL' },
    { name: 'UPSHOT_COLOUR', like: null },
  ])
})

test('loadConfig takes live effects unless the environment says plan, and nothing else', async () => {
  expect((await loadConfig({}, project())).effects).toBe('live')
  expect((await loadConfig({ UPSHOT_EFFECTS: 'plan' }, project())).effects).toBe('plan')
  expect((await loadConfig({ UPSHOT_TRUST_READS: '1' }, project())).trustsReads).toBe(true)
  for (const wrong of ['Plan', 'off', 'dry', '1']) {
    await expect(loadConfig({ UPSHOT_EFFECTS: wrong }, project())).rejects.toThrow(
      'UPSHOT_EFFECTS is not valid: it should be live, or plan, with which nothing acts.',
    )
  }
})

test('a plan of too many requests is refused with the most that it may be', async () => {
  const of = (plan: string) =>
    loadConfig({ SERVICE_BASE_URL: 'https://files.example/v1', SERVICE_PLAN: plan }, project())
  await expect(of('1000000')).rejects.toThrow('SERVICE_PLAN is not valid: it should be free, pro, enterprise, or the')
  await expect(of('1000000')).rejects.toThrow('requests per minute (1 to 999999)')
})
