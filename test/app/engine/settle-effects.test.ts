import { expect } from 'vitest'
import { settleEffects } from '../../../src/app/engine/start/settle-start.ts'
import type { Notice } from '../../../src/core/notices.ts'
import { PROCESS_BEAT_MS, type ProcessRecord } from '../../../src/core/store/process-record.ts'
import { ManualClock } from '../../../src/core/time.ts'
import { NOW } from '../../support/fixtures.ts'
import { test } from '../../support/test-store.ts'

const AHEAD: ProcessRecord = {
  id: 'ahead',
  role: 'all',
  pid: 7,
  version: '1',
  adminUrl: '',
  receiverUrl: '',
  startedAt: NOW,
  seenAt: NOW + 86_400_000,
  broken: [],
}

/** Settles while time passes in beats; `meanwhile` is called at each. */
async function settle(store: Parameters<typeof settleEffects>[0], meanwhile: (beat: number) => Promise<void>) {
  const clock = new ManualClock(NOW)
  const heard: Notice[] = []
  let isOver = false
  const settled = settleEffects(store, {
    mode: 'plan',
    self: 'own',
    clock,
    publish: (notice) => heard.push(notice),
  }).finally(() => {
    isOver = true
  })
  settled.catch(() => {})
  for (let beat = 1; !isOver; beat += 1) {
    await meanwhile(beat)
    await clock.advance(PROCESS_BEAT_MS)
    await new Promise(setImmediate)
  }
  expect(heard).toEqual([{ kind: 'effects.awaited', pid: 7, seenAt: AHEAD.seenAt, ms: 20_000 }])
  return settled
}

test('a process that died while its clock was ahead does not keep the others from planning', async ({ store }) => {
  await store.beatProcess(AHEAD)
  expect(await settle(store, async () => {})).toBe(true)
})

test('one at work whose clock is ahead does, for it is seen again', async ({ store }) => {
  await store.beatProcess(AHEAD)
  const beat = (beats: number) => store.beatProcess({ ...AHEAD, seenAt: AHEAD.seenAt + beats * PROCESS_BEAT_MS })
  await expect(settle(store, beat)).rejects.toMatchObject({ code: 'conflict' })
})
