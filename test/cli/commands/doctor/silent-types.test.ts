import { expect, test } from 'vitest'
import { NOW } from '../../../support/fixtures.ts'
import { openTestProject } from '../../support/test-project.ts'

test('doctor names the types of which no event ever came, once some event has', async () => {
  const { cli, store } = await openTestProject()
  const record = (id: string, eventTypes: string[]) => ({ id, file: `${id}.workflow.ts`, eventTypes, schedule: null })
  const workflows = [record('copy', ['file.creatd']), record('tell', ['file.*', 'transfer.*']), record('all', ['*'])]
  await store.saveWorkflows({ workflows, broken: [] }, NOW)
  const silent = async () => {
    const { findings } = (await cli('doctor')).json.data
    return findings.find(({ check }: { check: string }) => check === 'no events')?.found
  }
  expect(await silent()).toBeUndefined()
  const created = { seen: 1, outline: null, drifts: [] }
  await store.saveShapeBook({ read: {}, types: { 'file.created': created } }, 0)
  expect(await silent()).toBe('no event came yet of the type file.creatd (copy), transfer.* (tell)')
})
