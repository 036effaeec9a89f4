import { expect } from 'vitest'
import { deriveHookId } from '../../../../src/core/incoming/hook.ts'
import type { Store } from '../../../../src/core/store/store.ts'
import { checkpoint } from '../../../support/fixtures.ts'
import { runHere } from '../../support/run-here.ts'
import { beginRun, statusOf, test } from '../../support/test-project.ts'

const DATA = {
  type: 'object',
  properties: { verdict: { type: 'string', enum: ['clean', 'infected'] } },
  required: ['verdict'],
}
/** A URL of a hook that an author's own step has returned. */
const URL_OF_HOOK = `https://upshot.example.com/callbacks/${'0123456789'.repeat(6).slice(0, 58)}`

/** A run that is parked at its hook. */
async function park(store: Store): Promise<string> {
  const now = Date.now()
  const lease = await beginRun(store)
  const id = deriveHookId(lease.runId, 'scan', lease.fence)
  const hook = { id, account: 'default', ask: 'Is it clean?', data: DATA, isMany: false, sign: null }
  const opened = checkpoint('scan', { kind: 'hook', effect: 'read', target: id, position: 0 })
  await store.saveCheckpoint(lease, opened, undefined, { hook: { ...hook, openedAt: now, expiresAt: now + 3_600_000 } })
  await store.saveCheckpoint(lease, checkpoint('order', { output: JSON.stringify(URL_OF_HOOK), position: 1 }))
  const waiting = { kind: 'wait', status: 'waiting', output: null, finishedAt: null, position: 2 } as const
  const wait = {
    account: 'default',
    type: 'x',
    name: '',
    value: '',
    version: '',
    since: 'run',
    at: now,
    hook: id,
  } as const
  await store.saveCheckpoint(lease, checkpoint('scanned', waiting), undefined, { wait })
  await store.parkRun(lease, { dueAt: now + 3_600_000, reason: 'waits', awaits: ['scanned'] })
  return lease.runId
}

test('a person sees the hook of a run, and answers it in place of its sender', async ({ dataDir, store, cli }) => {
  const run = await park(store)
  const shown = await runHere(dataDir, ['runs', 'show', run])
  expect(shown.stdout).toMatch(/Hooks\n.*STEP.*\n.*scan +open +0 .*\/callbacks\/[0-9a-z]{8}….*Is it clean\?/)
  expect(shown.stderr).toContain(`upshot runs answer ${run} "scan" --data`)
  const planned = await cli('runs', 'answer', run, 'scan', '--data', '{"verdict":"clean"}', '--dry-run')
  expect(planned.exit).toBe(0)
  expect(await statusOf(store, run)).toBe('waiting')
  const misfit = await cli('runs', 'answer', run, 'scan', '--data', '{"verdict":"maybe"}')
  expect(misfit).toMatchObject({ exit: 2, json: { error: { message: expect.stringContaining('verdict') } } })
  const unknown = await cli('runs', 'answer', run, 'scam')
  expect(unknown.json.error).toMatchObject({ code: 'not_found', fix: 'It has: "scan".' })
  const answered = await cli('runs', 'answer', run, 'scan', '--data', '{"verdict":"clean"}', '--reason', 'by phone')
  expect(answered.json.data).toMatchObject({ step: 'scan', state: 'answered', answers: 1 })
  expect(await statusOf(store, run)).toBe('pending')
  const [action] = await store.listActions({ limit: 1 })
  expect(action).toMatchObject({ action: 'hook.answer', outcome: 'done', reason: 'by phone' })
})

test('no door shows a URL that lets answer, also where an own step returned it', async ({ store, cli }) => {
  const run = await park(store)
  const { json } = await cli('runs', 'show', run)
  expect(json.data.steps[1].output).toBe(`${URL_OF_HOOK.slice(0, -32)}…`)
})
