import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { IsolatedProcess } from '../../../src/app/preview/isolated-process.ts'
import { LastingProcess } from '../../../src/app/preview/lasting-process.ts'
import { imagineRun } from '../../../src/app/preview/plan-event.ts'
import type { EventRecord } from '../../../src/core/incoming/event.ts'
import { DEFAULT_POLICY } from '../../../src/core/safety/guard.ts'
import { NOW } from '../../support/fixtures.ts'
import { BLOCK, DOOR } from '../../support/program.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openTestStore } from '../../support/test-store.ts'

const RULES = { readsLive: false, plans: { use: [], borrows: false } }
const CODE = `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: 'tidy', on: 'file.created', run: async ({ event }) => {
  if (event.id.startsWith('evt_block')) ${BLOCK}
  return event.id
} })`

function jobOf(id: string) {
  const at = { createdAt: NOW, receivedAt: NOW, stream: 0, seq: 1 }
  const body = JSON.stringify({ id, type: 'file.created', data: {} })
  const event: EventRecord = { ...at, id, account: 'default', type: 'file.created', origin: 'webhook', body }
  return { claim: imagineRun(event, 'tidy', NOW), steps: [] }
}

async function openLasting() {
  const workflowsDir = tempFolder()
  writeFileSync(join(workflowsDir, 'tidy.workflow.js'), CODE)
  const settings = { workflowsDir, guard: DEFAULT_POLICY, spellings: {} }
  const store = openTestStore()
  return LastingProcess.open(() => IsolatedProcess.open({ settings, store, patienceMs: 6_000 }))
}

test('a run that blocks its process fails by itself, also beside another call', async () => {
  await using lasting = await openLasting()
  const preview = async (...ids: string[]) => {
    const previewed = await lasting.preview(ids.map(jobOf), RULES)
    return previewed.map(({ end }) => (end.kind === 'failed' ? end.error.message : end.kind))
  }
  const [one, other] = await Promise.all([preview('evt_1', 'evt_block', 'evt_2'), preview('evt_3')])
  expect(one).toEqual(['completed', expect.stringContaining('or blocked it'), 'completed'])
  expect(other).toEqual(['completed'])
  expect(await preview('evt_4')).toEqual(['completed'])
})
