import { expect, test } from 'vitest'
import { startConsole } from './support/start-console.ts'

const HOUR_MS = 3_600_000

test('the input of a schedule whose moment is over can be edited, and its moment is no reason against it', async () => {
  const { ask, clock, store } = await startConsole()
  const report = { id: 'report', file: 'report.workflow.ts', eventTypes: [], schedule: null, input: {} }
  await store.saveWorkflows({ workflows: [report], broken: [] }, clock.now())
  const send = async (method: string, path: string, body: object) => {
    const answer = await ask(path, { method, body: JSON.stringify(body) })
    return { status: answer.status, body: (await answer.json()) as object }
  }
  const at = new Date(clock.now() + HOUR_MS).toISOString()
  expect(await send('POST', '/schedules', { name: 'once', workflow: 'report', at })).toMatchObject({ status: 200 })
  await send('POST', '/schedules/once/pause', {})
  clock.advance(2 * HOUR_MS)
  expect(await send('PATCH', '/schedules/once', { input: { month: 12 } })).toMatchObject({
    status: 200,
    body: { at, input: { month: 12 } },
  })
  expect(await send('PATCH', '/schedules/once', { at })).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('is in the past') },
  })
})

test('a backfill takes no rate that would put its next moment beyond every date', async () => {
  const { ask } = await startConsole()
  const stretch = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }
  const body = JSON.stringify({ ...stretch, perMinute: 1e-300 })
  const answer = await ask('/schedules/report/backfill', { method: 'POST', body })
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({ detail: expect.stringContaining('perMinute') })
})
