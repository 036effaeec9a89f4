import { join } from 'node:path'
import { expect } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import { asOperator } from '../../src/core/store/as-operator.ts'
import { KEEP_ALL } from '../../src/core/store/retention.ts'
import { inspectNow } from '../sandbox/support/inspect-page.ts'
import { pathsIn } from '../support/paths-in.ts'
import { holdLosses } from './support/hold-losses.ts'
import { browserTests, inspect, walkTo } from './support/in-browser.ts'
import { mood } from './support/open-dashboard.ts'

const { inBrowser, label, open } = browserTests()

inBrowser(`a login link logs in once${label}`, async () => {
  const { page, makeLink, origin } = await open()
  const link = await makeLink('admin')
  await page.goto(link)
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  expect(page.url()).not.toContain('#')
  await page.evaluate(() => localStorage.clear())
  await page.context().clearCookies()
  await page.goto(origin)
  await page.goto(link)
  expect(await page.getByRole('alert').textContent()).toContain('was used, has expired or is unknown')
})

inBrowser(`a failed run is found and retried by keyboard alone${label}`, async () => {
  const { page, login, faults, hear } = await open()
  await login(page)
  for (const key of ['g', 'r']) await page.keyboard.press(key)
  await page.getByRole('row', { name: /copy-report/ }).waitFor()
  await page.keyboard.press('j')
  while ((await page.locator('tr:focus', { hasText: 'copy-report' }).count()) === 0) {
    await page.keyboard.press('j')
  }
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'copy-report', level: 1 }).waitFor()
  expect(await page.getByRole('main').textContent()).toContain('the storage is full')
  mood.isBroken = false
  await page.keyboard.press('r')
  await hear('run.completed')
  await page.getByText('✓completed').first().waitFor()
  expect(faults()).toEqual([])
})

inBrowser(`a run that another process ends changes on the page by itself${label}`, async () => {
  const { page, login, app } = await open()
  await login(page)
  await page.goto(`${page.url()}runs?workflow=wait-for-approval`)
  const row = page.getByRole('row', { name: /wait-for-approval/ })
  await row.getByText('waiting').waitFor()
  const [run] = await app.store.listRuns({ limit: 1, workflow: 'wait-for-approval' })
  await app.store.cancelRun(run?.id ?? '', 'by another process', Date.now())
  await row.getByText('canceled').waitFor()
})

inBrowser(`the chart of the last day has a legend, an axis, a word on each hour, and a table${label}`, async () => {
  const { page, login, origin, faults } = await open()
  await login(page)
  const chart = page.getByRole('figure')
  const hour = await chart.getByRole('navigation').getByRole('link').last().getAttribute('aria-label')
  expect(hour).toMatch(/^\d\d:00: \d+ completed, \d+ failed, \d+ other$/)
  await chart.getByRole('link', { name: hour ?? '' }).hover()
  await chart.locator('.pointed', { hasText: hour ?? '' }).waitFor()
  await chart.getByText('As a table').click()
  const [, completed, failed] = /(\d+) completed, (\d+) failed/.exec(hour ?? '') ?? []
  const row = await chart.getByRole('row').last().textContent()
  expect(row).toBe([hour?.slice(0, 5), completed, /(\d+) other/.exec(hour ?? '')?.[1], failed].join(''))
  await page.goto(`${origin}/deliveries`)
  await page
    .getByRole('row', { name: /accepted/ })
    .getByText('file.created')
    .first()
    .waitFor()
  expect(faults()).toEqual([])
})

inBrowser(`an operator answers a callback in place of its sender, and a viewer only sees it${label}`, async () => {
  const { page, login, scan, hear, faults, app } = await open()
  const run = await scan()
  await login(page, 'viewer', `runs/${run}`)
  const card = page.getByRole('region', { name: 'Callbacks' })
  await card.getByText('open').waitFor()
  expect(await card.getByRole('button').count()).toBe(0)
  expect(await page.content()).not.toMatch(/callbacks\/[0-9a-z]{40}/)
  await page.evaluate(() => localStorage.clear())
  await page.context().clearCookies()
  await login(page, 'operator', `runs/${run}`)
  await card.getByRole('button', { name: 'Answer…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('verdict').selectOption('clean')
  await dialog.getByLabel('Reason').fill('told by phone')
  expect(await inspectNow(page, 'the answer of a callback')).toEqual([])
  await dialog.getByRole('button', { name: 'Answer', exact: true }).click()
  await hear('run.completed', (notice) => notice.run === run)
  await card.getByText('answered').waitFor()
  expect((await app.store.findRun(run))?.output).toBe('"clean"')
  expect(faults()).toEqual([])
})

inBrowser(`a chain of runs is drawn on the page of each of its runs${label}`, async () => {
  const { page, login, count } = await open()
  await login(page, 'admin', `runs/${await count()}`)
  const chain = page.locator('section[aria-label="Related runs"] > div', { hasText: 'Its chain of runs' })
  await chain.getByRole('listitem').first().getByText('this one').waitFor()
  await chain.getByRole('listitem').nth(1).getByRole('link').click()
  await chain.getByRole('listitem').nth(1).getByText('this one').waitFor()
  expect(await chain.getByRole('listitem').count()).toBe(2)
  expect(await page.getByText('Repeats and follow-ups').count()).toBe(0)
})

inBrowser(`all runs of a filter are retried as an operation, whose progress is shown${label}`, async () => {
  const { page, login, hear, faults } = await open()
  await login(page, 'admin', 'runs?status=failed')
  mood.isBroken = false
  await page.getByRole('button', { name: 'Retry all that match…' }).click()
  await page.getByLabel('Reason').fill('there is room again')
  await page.getByRole('button', { name: 'Retry them' }).click()
  await hear('run.completed')
  const row = page.getByRole('row', { name: /there is room again/ })
  await row.getByText('1 of 1').waitFor()
  expect(faults()).toEqual([])
})

inBrowser(`a failed run is marked as resolved with a reason, and its failure can be opened again${label}`, async () => {
  const { app, page, login, origin, faults } = await open()
  await login(page)
  const [run] = await app.store.listRuns({ status: 'failed', limit: 1 })
  const openFailures = async () => (await app.store.countOpenRuns(Date.now())).openFailures
  await page.goto(`${origin}/runs/${run?.id}`)
  await page.getByRole('button', { name: 'Mark as resolved…' }).click()
  await page.getByLabel('Reason').fill('copied by hand')
  await page.getByRole('button', { name: 'Mark as resolved', exact: true }).click()
  await page.getByText(/Resolved by web:\S+ .*: copied by hand/).waitFor()
  expect(await openFailures()).toBe(0)
  await page.goto(`${origin}/runs?status=failed`)
  await page.getByLabel('Resolved').selectOption('not resolved')
  await page.getByText('No run fits these filters.').waitFor()
  await page.getByLabel('Resolved').selectOption('resolved')
  await page.getByRole('link', { name: /copy-report/ }).click()
  await page.getByRole('button', { name: 'Open the failure again' }).click()
  await page.getByRole('button', { name: 'Mark as resolved…' }).waitFor()
  expect([await openFailures(), faults()]).toEqual([1, []])
})

inBrowser(`a viewer sees runs and neither payloads nor actions${label}`, async () => {
  const { page, login, origin } = await open()
  await login(page, 'viewer', 'failures')
  await page.getByRole('row', { name: /copy-report/ }).waitFor()
  expect(await page.getByRole('button', { name: /Resolve|Snooze/ }).count()).toBe(0)
  await page.goto(`${origin}/runs?status=failed`)
  await page.getByRole('link', { name: /copy-report/ }).click()
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  expect(await page.getByRole('button', { name: /Retry|Cancel|Run again|resolved/ }).count()).toBe(0)
})

inBrowser(`the dashboard works below a base path${label}`, async () => {
  const admin = { url: null, basePath: '/ops', proxy: null, metrics: 'token' } as never
  const { page, login, faults } = await open({}, { admin })
  await login(page)
  await page.getByRole('link', { name: 'Events' }).click()
  await page.getByRole('link', { name: /report\.made/ }).click()
  await page.getByRole('heading', { name: 'report.made' }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/ops/events/evt_report1')
  await page.reload()
  await page.getByRole('heading', { name: 'report.made' }).waitFor()
  expect(faults()).toEqual([])
})

inBrowser(`a repair lists the events that would be made up, and is approved as such${label}`, async () => {
  const { app, page, login, faults } = await open()
  await holdLosses(app.store, ['/in/a.pdf', '/in/b.pdf'])
  await login(page)
  await page.getByRole('link', { name: 'Approvals' }).click()
  await page.getByRole('link', { name: 'make their events up?' }).click()
  await page.getByRole('heading', { name: 'Repair of lost events' }).waitFor()
  await page.getByRole('row', { name: /file\.created .*\/in\/b\.pdf/ }).waitFor()
  await page.getByRole('button', { name: 'Approve 2 events…' }).click()
  await page.getByText('Exactly these are made up').waitFor()
  await page.getByRole('button', { name: 'Approve 2 events', exact: true }).click()
  await page.getByText('approved', { exact: true }).first().waitFor()
  const [approval] = await app.store.listApprovals({ limit: 1, now: Date.now() })
  expect([approval?.status, faults()]).toEqual(['approved', []])
})

inBrowser(`a question shows the files that a yes lets go, and what is not known of them${label}`, async () => {
  const { page, origin, login, ask, app, hear, faults } = await open()
  await login(page)
  await ask()
  const [run] = await app.store.listRuns({ limit: 1, workflow: 'ask-first' })
  await page.goto(`${origin}/runs/${run?.id}`)
  await page.getByText('Target', { exact: true }).waitFor()
  expect(await inspectNow(page, 'the run that asks')).toEqual([])
  await page.getByRole('link', { name: 'Approvals' }).click()
  await page.getByRole('link', { name: /^Delete it/ }).click()
  await page.getByRole('row', { name: /\/old\/asked\.txt.*unknown/ }).waitFor()
  await page.getByText('The service gave no size or date of some files').waitFor()
  await page.getByRole('button', { name: 'Answer…' }).click()
  await page.getByText('each only in the state that the list shows').waitFor()
  await page.getByRole('button', { name: 'Answer yes', exact: true }).click()
  await hear('run.completed', ({ workflow }) => workflow === 'ask-first')
  expect(faults()).toEqual([])
})

inBrowser(`a person approves a part of the exact list that is shown, and the rest stays open${label}`, async () => {
  const { page, login, retire, hear, sandbox, faults } = await open()
  await login(page)
  await retire()
  await page.getByRole('link', { name: /1 approval: 3 effects/ }).click()
  await page.getByRole('link', { name: /3 effects over the limit of 0 deletes/ }).click()
  await page.getByRole('checkbox', { name: 'Select /old/b.txt' }).uncheck()
  await page.getByRole('button', { name: 'Approve 2 effects…' }).click()
  await page.getByLabel('Reason').fill('the archive has them')
  await page.getByRole('button', { name: 'Approve 2 effects', exact: true }).click()
  await page.getByText('1 open of 1').waitFor()
  await hear('step.completed', ({ step }) => step.includes('delete'))
  expect(pathsIn(sandbox)).toContain('/old/b.txt')
  await page.getByRole('button', { name: 'Deny…' }).click()
  await page.getByRole('button', { name: 'Deny', exact: true }).click()
  await hear('run.failed', ({ workflow }) => workflow === 'retire-files')
  await page.getByText('✗denied').first().waitFor()
  // The run has ended and asks for nothing any more, which takes nothing from what was denied.
  await page.getByRole('row', { name: /b\.txt .*withdrawn/ }).waitFor()
  await page.getByRole('link', { name: 'Effects' }).click()
  await page
    .getByRole('row', { name: /deleted/ })
    .first()
    .waitFor()
  expect(faults()).toEqual([])
})

inBrowser(`an approval that ends while its dialog is open leaves the dialog, which says so${label}`, async () => {
  const { app, page, login, retire } = await open()
  const id = await retire()
  await login(page, 'operator', `approvals/${id}`)
  await page.getByRole('button', { name: 'Deny…' }).click()
  const [item] = await app.store.listApprovalItems({ approval: id, limit: 1 })
  const word = { approval: id, verdict: 'denied', actor: 'bob', reason: null, only: null, answer: null } as const
  const bob = { actor: 'bob', role: 'operator', from: 'here', reason: null }
  const writes = asOperator(app.store, bob, { now: () => Date.now() })
  await writes.decideApproval({ ...word, hash: item?.hash ?? '', signature: null }, Date.now())
  await page.getByText('✗denied').first().waitFor()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Deny', exact: true }).click()
  await dialog.getByRole('alert').getByText(`Approval ${id} is denied already.`).waitFor()
})

inBrowser(
  `a failure has its code, a step what it saw, a fork its differences, a workflow its steps${label}`,
  async () => {
    const { app, page, login, origin, hear, faults } = await open(
      {},
      { workflowsDir: join(import.meta.dirname, 'support') },
    )
    const found: string[] = []
    const [run] = await app.store.listRuns({ status: 'failed', limit: 1 })
    await login(page, 'viewer', `runs/${run?.id}`)
    await page.getByText('open-dashboard.ts').first().waitFor()
    expect(await page.locator('.source').count()).toBe(0)
    await page.evaluate(() => localStorage.clear())
    await page.context().clearCookies()
    await login(page, 'operator', `runs/${run?.id}`)
    await page.locator('.source .here', { hasText: 'throw new Error' }).waitFor()
    const data = page.getByRole('region', { name: 'In and out' })
    await data.getByRole('region', { name: 'In', exact: true }).getByText('The result of read').waitFor()
    await data.getByRole('region', { name: 'In', exact: true }).getByText('"storage_a"').first().waitFor()
    await data.getByRole('region', { name: 'Out' }).getByText('the storage is full').waitFor()
    found.push(...(await inspect(page, 'a failed run')))
    mood.isBroken = false
    await page.getByRole('button', { name: 'Run again from a step…' }).click()
    await page.getByRole('button', { name: 'Make the new run' }).click()
    await hear('run.completed', ({ workflow }) => workflow === 'copy-report')
    await page.getByText('✓completed').first().waitFor()
    await page.getByRole('button', { name: 'Compare' }).click()
    const compared = page.getByRole('table', { name: 'Steps of both runs' })
    await compared.getByRole('row', { name: /copy differs.*status "failed" → "completed"/ }).waitFor()
    await page.getByText('1 step gave the same result.').waitFor()
    found.push(...(await inspect(page, 'a fork')))
    await page.goto(`${origin}/workflows/copy-report`)
    await page.getByText('Steps', { exact: true }).click()
    await page.getByText('As a list').click()
    await page.getByRole('row', { name: /copy .*read 2 2 .* 1$/ }).waitFor()
    found.push(...(await inspect(page, 'the steps of a workflow')))
    expect([found, faults()]).toEqual([[], []])
  },
)

inBrowser(`a search is kept under a name, found again, and forgotten${label}`, async () => {
  const { page, login, origin, faults } = await open()
  await login(page, 'admin', 'runs?status=failed')
  await page.getByRole('combobox', { name: 'Search runs' }).fill('a.txt workflow:co')
  // Playwright sees no options of a field's own list.
  const offered = page.locator('datalist option[value="a.txt workflow:copy-report"]')
  await offered.waitFor({ state: 'attached' })
  await page.getByRole('button', { name: 'Searches' }).click()
  const boxOf = (name: string) => page.getByLabel(name).or(page.getByRole('button', { name })).first().boundingBox()
  const [button, field] = [await boxOf('Searches'), await boxOf('Name of this search')]
  expect(field?.y).toBeGreaterThan(button?.y ?? Number.POSITIVE_INFINITY)
  expect(field?.y).toBeLessThan((button?.y ?? 0) + 100)
  await page.getByLabel('Name of this search').fill('broken ones')
  await page.getByRole('button', { name: 'Save it' }).click()
  expect(await inspect(page, 'the menu of searches')).toEqual([])
  await page.goto(`${origin}/runs`)
  await page.getByRole('button', { name: 'Searches' }).click()
  await page.getByRole('button', { name: 'broken ones', exact: true }).click()
  await page.waitForURL(`${origin}/runs?status=failed`)
  await page.getByLabel('Range of time').selectOption('from … to …')
  await page.getByLabel('From', { exact: true }).fill('2020-01-01T00:00')
  await page.getByLabel('To', { exact: true }).fill('2020-01-02T00:00')
  await page.getByText('No run fits these filters.').waitFor()
  await page.getByRole('button', { name: 'Clear the filters' }).click()
  await page.getByRole('row', { name: /copy-report/ }).waitFor()
  await page.getByRole('button', { name: 'Searches' }).click()
  await page.getByRole('button', { name: 'Forget broken ones' }).click()
  await page.getByRole('button', { name: 'Searches' }).waitFor({ state: 'detached' })
  expect(faults()).toEqual([])
})

const PLACES = [
  '',
  'runs',
  'failures',
  'events',
  'deliveries',
  'endpoints',
  'workflows',
  'schedules',
  'approvals',
  'effects',
  'system',
]
inBrowser(`the dialog of a prune says how much would go before it asks${label}`, async () => {
  const day = 86_400_000
  const { page, login, app, faults } = await open({}, { retention: { ...KEEP_ALL, refusals: day } })
  const at = Date.now() - 2 * day
  const refusal = { endpointId: null, verdict: 'unknown_endpoint', bodyBytes: null, facts: {} } as const
  for (const receivedAt of [at, at + 1])
    await app.store.saveRefusal({ ...refusal, id: newId('dlv', receivedAt), receivedAt })
  await login(page, 'admin', 'system?tab=retention')
  await page.getByRole('button', { name: 'Prune now…' }).click()
  const dialog = page.getByRole('dialog')
  const refused = dialog.getByRole('listitem').filter({ hasText: 'Refused deliveries' })
  await refused.getByText('2', { exact: true }).waitFor()
  expect(await dialog.getByText('kept for ever').count()).toBe(7)
  expect(await inspect(page, 'the dialog of a prune')).toEqual([])
  await dialog.getByRole('button', { name: 'Prune now' }).click()
  await page.getByText('Removed 2 rows.').waitFor()
  expect(await app.store.listDeliveries({ limit: 9, verdicts: ['unknown_endpoint'] })).toEqual([])
  expect(faults()).toEqual([])
})

inBrowser(`every page is accessible, quiet and whole in every look${label}`, async () => {
  const { page, login, origin, faults, retire } = await open()
  await login(page)
  const approval = await retire()
  const found: string[] = []
  for (const place of [
    ...PLACES,
    'events/evt_report1',
    'endpoints/sandbox',
    'system?tab=retention',
    'system?tab=config',
    'workflows/copy-report',
    `approvals/${approval}`,
    'history?of=fil_1',
  ]) {
    await walkTo(page, `${origin}/${place}`)
    found.push(...(await inspect(page, place)))
  }
  await page.goto(`${origin}/runs?workflow=copy-report`)
  await page
    .getByRole('link', { name: /copy-report/ })
    .first()
    .click()
  await page.getByRole('heading', { name: 'copy-report', level: 1 }).waitFor()
  found.push(...(await inspect(page, 'run')))
  await page.goto(`${origin}/events/evt_report1`)
  await page.getByRole('link', { name: 'Everything that came of it' }).click()
  await page.getByText('started').first().waitFor()
  expect(await page.getByRole('main').textContent()).toContain('2 runs and 1 event shown, and that is all.')
  found.push(...(await inspect(page, 'trace')))
  await page.getByRole('link', { name: /copy-report/ }).click()
  await page.getByRole('heading', { name: 'copy-report', level: 1 }).waitFor()
  expect(found).toEqual([])
  expect(faults()).toEqual([])
  expect(await page.title()).not.toBe('pwned')
})
