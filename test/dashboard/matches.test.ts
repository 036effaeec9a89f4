import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { inspectNow } from '../sandbox/support/inspect-page.ts'
import { DOOR } from '../support/program.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { browserTests, inspect } from './support/in-browser.ts'

const { inBrowser, label, open } = browserTests()

/** A folder with workflows of which each meets a report in another way. */
function writeWorkflows(): string {
  const folder = tempFolder()
  const all = {
    'copy-report': `on: 'report.made', concurrency: { limit: 2, key: () => 'reports' }`,
    'large-reports': `on: 'report.*', where: ({ data }) => data.pages > 100`,
    'keyed-reports': `on: 'report.made', throttle: { limit: 1, per: '1m', key: ({ data }) => data.author.name }`,
    'count-files': `on: 'file.created'`,
  }
  for (const [id, options] of Object.entries(all)) {
    const code = `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: '${id}', ${options}, run: () => { throw new Error('a match runs nothing') } })`
    writeFileSync(join(folder, `${id}.workflow.ts`), code)
  }
  return folder
}

inBrowser(`an event is tried on the workflows, stored or typed in, and nothing is started${label}`, async () => {
  const { page, login, origin, app, faults } = await open({}, { workflowsDir: writeWorkflows() })
  await login(page, 'operator')
  const before = (await app.store.listRuns({ limit: 100 })).length

  await page.goto(`${origin}/events/evt_report1`)
  await page.getByRole('button', { name: 'Ask the workflows' }).click()
  const matches = page.getByRole('region', { name: 'Matches' })
  await matches.getByRole('status').waitFor()
  const told = (await matches.getByRole('listitem').allInnerTexts()).join('\n')
  expect(told).toMatch(/starts\s+copy-report.*2 at a time for "reports"/s)
  expect(told).toMatch(/would need you\s+keyed-reports.*the key of `throttle` threw/s)
  expect(told).toMatch(/is skipped\s+large-reports.*returned false/s)
  expect(await matches.innerText()).toContain('One other does not run on this type.')
  expect(await inspect(page, 'matches of an event')).toEqual([])

  await page.goto(`${origin}/workflows`)
  await page.getByText('Try an event').click()
  await page.getByLabel('Data as JSON').fill('no json')
  await page.getByRole('button', { name: 'Ask the workflows' }).click()
  expect(await page.getByRole('alert').textContent()).toBe('The data is no JSON object.')
  await page.getByLabel('Type').fill('report.made')
  await page.getByLabel('Data as JSON').fill('{}')
  await page.getByRole('button', { name: 'Ask the workflows' }).click()
  await page.getByRole('main').getByRole('status').filter({ hasText: 'starts' }).waitFor()
  expect(await inspectNow(page, 'matches of a typed event')).toEqual([])
  expect(await app.store.listRuns({ limit: 100 })).toHaveLength(before)
  expect(await app.store.listActions({ limit: 9, action: 'event.match' })).toHaveLength(2)
  expect(faults()).toEqual([])
})
