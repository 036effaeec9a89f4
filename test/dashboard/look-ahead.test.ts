import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { tempFolder } from '../support/temp-folder.ts'
import { browserTests, inspect, inspectNow } from './support/in-browser.ts'

const { inBrowser, label, open } = browserTests()

const DOOR = join(import.meta.dirname, '../../src/author/index.ts')
/** The workflow of the dashboard's tests, with more to do after its deletes. */
const CODE = `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: 'retire-files', on: 'report.retired', guard: { deletes: { perRun: 0 } },
run: async ({ files, event, step }) => {
  await Promise.all(event.data.ids.map((id) => files.delete({ service: 'storage_a', id })))
  await step.run('tell', () => 1, { target: 'chat' })
  await step.run('never known', () => 2)
} })`

inBrowser(`what comes after a list is previewed in another process, and shown beside it${label}`, async () => {
  const workflowsDir = tempFolder()
  const module = join(workflowsDir, 'retire-files.workflow.ts')
  writeFileSync(module, CODE)
  const { page, login, origin, app, retire, faults } = await open({}, { workflowsDir })
  await login(page, 'operator')
  const approval = await retire()
  const effects = await app.store.listEffects({ limit: 99 })
  await page.goto(`${origin}/approvals/${approval}`)
  const look = page.getByRole('region', { name: 'Look ahead' })
  await look.getByRole('button', { name: 'Look ahead' }).click()
  await look.getByRole('status').filter({ hasText: 'Previewing' }).waitFor()
  await look.getByRole('listitem').waitFor()
  const told = (await look.innerText()).replace(/\s+/g, ' ')
  expect(told).toMatch(/would ask for 1 effect more, 0 B write chat Nobody knows what comes after the step "tell"/)
  expect(told).toContain(`upshot approvals approve ${approval} --hash`)
  expect(told).toMatch(/ --hash [0-9a-f]{8} --ahead 1$/)
  expect(await inspect(page, 'look ahead')).toEqual([])

  rmSync(module)
  await look.getByRole('button', { name: 'Look ahead again' }).click()
  await look.getByText('no module defines the workflow "retire-files"').waitFor()
  expect(await inspectNow(page, 'look ahead that fails')).toEqual([])
  expect(await app.store.listEffects({ limit: 99 })).toEqual(effects)
  expect(await app.store.listActions({ limit: 9, action: 'approval.foresee' })).toHaveLength(2)
  expect(faults().filter((fault) => !fault.includes('500'))).toEqual([])
})
