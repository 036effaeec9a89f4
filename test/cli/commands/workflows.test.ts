import { expect, onTestFinished, test } from 'vitest'
import { describeTrigger } from '../../../src/cli/commands/workflows.ts'
import { waitingRun } from '../../contract/support/waiting-runs.ts'
import { incoming } from '../../support/fixtures.ts'
import { openDataDir } from '../../support/open-data-dir.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { runHere } from '../support/run-here.ts'

test('events that start no workflow are told apart where runs wait for their type', async () => {
  const dataDir = tempFolder()
  const store = openDataDir({ dataDir, secretKey: null })
  onTestFinished(() => store.close())
  const followUp = { id: 'follow-up', file: 'f.workflow.ts', eventTypes: ['file.created'], schedule: null }
  await store.saveWorkflows({ workflows: [followUp], broken: [] }, Date.now())
  await waitingRun(store)
  for (const type of ['file.moved', 'file.renamed']) {
    const delivery = incoming(`evt_${type}`, { workflows: [], facts: { unmatched: true } })
    await store.saveDelivery({ ...delivery, event: { ...delivery.event, type } })
  }
  const said = '2 events started no workflow: file.moved (1, runs wait for it), file.renamed (1)'
  for (const command of [['workflows', 'list'], ['doctor']]) {
    const { stdout, stderr } = await runHere(dataDir, command)
    expect(stdout + stderr).toContain(said)
  }
})

test('a callable workflow says what starts it', () => {
  expect(describeTrigger({ eventTypes: [], schedule: null })).toBe('being invoked')
})
