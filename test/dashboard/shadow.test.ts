import { expect } from 'vitest'
import { NO_DIFFERENCES } from '../../src/core/safety/differences/difference.ts'
import { beginShadow } from '../../src/core/safety/differences/shadow-book.ts'
import { browserTests, inspect } from './support/in-browser.ts'

const { inBrowser, label, open } = browserTests()

const change = (sign: '+' | '-', kind: 'delete' | 'write', operation: string, target: string) => ({
  ...{ sign, class: kind, operation, target, from: null, to: null },
  text: `${sign} ${kind} ${operation} ${target}`,
})

inBrowser(`the page of a workflow shows what its shadow would do otherwise, with runs to look at${label}`, async () => {
  const { page, login, origin, app, faults } = await open()
  const [run] = await app.store.listRuns({ limit: 1 })
  if (run === undefined) throw new Error('the project has a run')
  const samples = [{ run: run.id, event: run.eventId }]
  const changes = [change('+', 'delete', 'files.delete', 'storage_a'), change('-', 'write', 'note', 'notes')]
  const found = {
    ...{ ...NO_DIFFERENCES, runs: 5_000, answered: 4_990, same: 4_920 },
    groups: [{ key: changes.map(({ text }) => text).join('; '), count: 70, bytes: 1_900_000_000, changes, samples }],
    cannotSay: [{ question: 'nothing answers "look" […]', count: 10, samples }],
  }
  const book = { ...beginShadow('tidy.shadow.ts', Date.now() - 86_400_000), followed: Date.now(), found }
  await app.store.saveShadow(run.workflow, { code: 'a1', book, version: 0 })

  await login(page)
  await page.goto(`${origin}/workflows/${run.workflow}`)
  const card = page.getByRole('region', { name: 'Shadow' })
  await card.waitFor()
  expect(await card.innerText()).toMatch(/tidy\.shadow\.ts does the same as 4,920 of 5,000 runs\. Compared since/)
  const rows = await card.getByRole('row').allInnerTexts()
  expect(rows[1]).toMatch(/70\s+\+ delete files\.delete storage_a\s+- write note notes\s+1\.9 GB/)
  expect(rows[2]).toMatch(/10\s+cannot say: nothing answers "look"/)
  expect(await inspect(page, 'a workflow with a shadow')).toEqual([])
  await card.getByRole('link', { name: run.id }).first().click()
  await page.waitForURL(`${origin}/runs/${run.id}`)
  expect(faults()).toEqual([])
})
