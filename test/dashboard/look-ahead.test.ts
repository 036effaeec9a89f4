import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { inspectNow } from '../sandbox/support/inspect-page.ts'
import { DOOR } from '../support/program.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { browserTests, inspect } from './support/in-browser.ts'

const { inBrowser, label, open } = browserTests()

/** The workflow of the dashboard's tests, with more to do after its deletes. */
const CODE = `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: 'retire-files', on: 'report.retired', guard: { deletes: { perRun: 0 } },
run: async ({ files, event, step }) => {
  const remove = (id) => files.delete({ service: 'storage_a', id })
  if (event.data.inTurn) for (const id of event.data.ids) await remove(id)
  else await Promise.all(event.data.ids.map(remove))
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
  expect(told).toMatch(/Approve this list and up to 1 more…$/)
  expect(await inspect(page, 'look ahead')).toEqual([])

  rmSync(module)
  await look.getByRole('button', { name: 'Look ahead again' }).click()
  await look.getByText('no module defines the workflow "retire-files"').waitFor()
  expect(await inspectNow(page, 'look ahead that fails')).toEqual([])
  expect(await app.store.listEffects({ limit: 99 })).toEqual(effects)
  expect(await app.store.listActions({ limit: 9, action: 'approval.foresee' })).toHaveLength(2)
  expect(faults().filter((fault) => !fault.includes('404'))).toEqual([])
})

inBrowser(`what comes next is approved with a list, as it comes and as far as it was shown${label}`, async () => {
  const workflowsDir = tempFolder()
  writeFileSync(join(workflowsDir, 'retire-files.workflow.ts'), CODE)
  const { page, login, origin, app, retire, sandbox, faults } = await open({}, { workflowsDir })
  await login(page, 'operator')
  const approval = await retire({ inTurn: true })
  await page.goto(`${origin}/approvals/${approval}`)
  const look = page.getByRole('region', { name: 'Look ahead' })
  await look.getByRole('button', { name: 'Look ahead' }).click()
  await look.getByLabel('at most').fill('1')
  await look.getByRole('button', { name: 'Approve this list and up to 1 more…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Approve 1 effect and 1 more?' })
  expect((await dialog.innerText()).replace(/\s+/g, ' ')).toContain(
    'This list (4 B) begins at once. After it come these, 4 B in all.',
  )
  expect(await dialog.getByRole('listitem').allInnerTexts()).toEqual([expect.stringContaining('/old/b.txt')])
  expect(await inspect(page, 'approve ahead')).toEqual([])
  await dialog.getByLabel('Reason').fill('both are copied')
  await dialog.getByRole('button', { name: 'Approve 2 effects' }).click()
  const following = page.getByRole('dialog', { name: 'Approved ahead' })
  await following.getByText('Approved 1 of 1 that were shown.').waitFor()
  expect(await inspectNow(page, 'approved ahead', 'dialog')).toEqual([])
  await following.getByRole('button', { name: 'Close' }).click()
  await expect.poll(() => app.store.listApprovals({ status: 'open', limit: 9, now: Date.now() })).toHaveLength(1)
  const files = sandbox.storage('storage_a').list()
  expect(files.filter(({ type, path }) => type === 'file' && path.startsWith('/old/'))).toHaveLength(1)
  const rows = await app.store.listActions({ limit: 9 })
  const words = rows
    .filter(({ action }) => action.startsWith('approval.approve'))
    .map(({ action, reason }) => [action, reason])
  expect(words).toEqual([
    ['approval.approve', 'both are copied'],
    ['approval.approve-ahead', 'both are copied'],
    ['approval.approve', 'both are copied'],
  ])
  expect(faults()).toEqual([])
})
