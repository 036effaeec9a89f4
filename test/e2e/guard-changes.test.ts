import { expect, test } from 'vitest'
import { DEFAULT_GUARD, DEFAULT_POLICY, type GuardPolicy } from '../../src/core/safety/guard.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { startTestApp } from '../support/test-app.ts'

test('a change of the guard between two starts is in the audit log, with the person, once', async () => {
  const dataDir = tempFolder()
  const start = async (guardPolicy: GuardPolicy) => {
    const { app } = await startTestApp({}, { dataDir, config: { guardPolicy } })
    const rows = await app.store.listActions({ action: 'guard.change', limit: 9 })
    await app.stop()
    return rows
  }
  const raised = { ...DEFAULT_POLICY, limits: { ...DEFAULT_GUARD, all: { deletes: { perHour: 9_000 } } } }
  expect(await start(DEFAULT_POLICY)).toEqual([])
  const change = { actor: expect.stringMatching(/^app:/), target: 'guard', outcome: 'done' }
  const first = { ...change, parameters: { before: DEFAULT_POLICY, to: raised } }
  expect(await start(raised)).toMatchObject([first])
  expect(await start(raised)).toMatchObject([first])
  const off = { ...change, parameters: { before: raised, to: { ...DEFAULT_POLICY, limits: null } } }
  expect(await start({ ...DEFAULT_POLICY, limits: null })).toMatchObject([off, first])
})
