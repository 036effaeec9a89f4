import { expect } from 'vitest'
import { PRUNE_KINDS, type PruneBounds } from '../../src/core/store/retention.ts'
import { makeSchema, openTestPostgres } from '../support/postgres-store.ts'
import { browserTests, inspect } from './support/in-browser.ts'

const { inBrowser, label, open } = browserTests()

const NEVER = Object.fromEntries(PRUNE_KINDS.map((kind) => [kind, null])) as PruneBounds
const WEEK = 7 * 86_400_000

inBrowser(`the page System shows the tables of a server, and the weeks that it keeps${label}`, async () => {
  const place = makeSchema()
  const { schema } = place
  const store = await openTestPostgres(place)
  for (const age of [2 * WEEK, 0]) await store.pruneWeek(NEVER, Date.now() - age)
  const { hostname, port, username, pathname } = new URL(place.url)
  const host = { host: hostname, port: Number(port), user: username, database: pathname.slice(1), tls: null }
  const database = { hosts: [host], directHosts: null, schema, connections: 10 }
  const { page, login, faults } = await open({}, { database } as never)
  await login(page, 'operator', 'system')
  const rowsOf = async (name: string) => {
    const table = page.getByRole('table', { name })
    await table.waitFor()
    return (await table.getByRole('row').allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))
  }
  expect(await rowsOf('Weeks')).toEqual([
    expect.stringMatching(/weeks kept.*next to go/i),
    expect.stringMatching(/^Runs and their steps 3 .*kB/),
    expect.stringMatching(/^Rows of the delivery ledger 3 /),
    expect.stringMatching(/^Bodies of events 3 /),
  ])
  expect((await rowsOf('Largest tables')).slice(1)).toContainEqual(expect.stringMatching(/^outcome .*[kM]B$/))
  const facts = await page.getByRole('main').innerText()
  expect(facts).toMatch(/Database\s+\d+(\.\d+)? MB/)
  expect(facts).not.toMatch(/\bLog\b/)
  expect(await inspect(page, 'room of a server')).toEqual([])
  expect(faults()).toEqual([])
})
