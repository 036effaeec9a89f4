import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Page, Route } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { browserTests } from './support/in-browser.ts'
import { madeOf } from './support/open-dashboard.ts'

const { inBrowser, label, open } = browserTests()

const UPDATES = 50

inBrowser(`fifty live updates leave focus, scroll and an open menu where they were${label}`, async () => {
  const { page, login, app, hear } = await open()
  const runs = await makeRuns(app, UPDATES)
  app.notices.publish({ kind: 'run.queued', count: UPDATES })
  await hear('run.parked', ({ run }) => run === runs.at(-1))
  await login(page, 'admin', 'runs?workflow=wait-for-approval&status=')
  const rows = page.getByRole('row', { name: /wait-for-approval/ })
  await rows.nth(UPDATES - 1).waitFor()
  await page.getByRole('button', { name: /Copy as/ }).click()
  await rows.nth(20).focus()
  await page.evaluate('scrollTo(0, 300)')
  const before = await readPlace(page)
  expect(before).toMatchObject({ row: 21, scroll: 300, menus: 1 })
  for (const [index, run] of runs.entries()) {
    await app.store.cancelRun(run, 'by another person', Date.now())
    // It stands for a message of the feed, which tells two changes a second.
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))')
    if (index % 10 === 9) await canceledIn(page).nth(index).waitFor()
  }
  expect(await readPlace(page)).toEqual(before)
})

inBrowser(`the next page of a list comes, whatever changes meanwhile${label}`, async () => {
  const { page, login, origin, app, hear } = await open()
  const runs = await makeRuns(app, 60)
  app.notices.publish({ kind: 'run.queued', count: 60 })
  await hear('run.parked', ({ run }) => run === runs.at(-1))
  await login(page)
  const held = Promise.withResolvers<void>()
  await page.route(/\/runs\?.*after=/, (route) => held.promise.then(() => route.continue()), { times: 1 })
  await page.goto(`${origin}/runs?workflow=wait-for-approval`)
  await page.getByText('Live', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Older' }).click()
  await app.store.cancelRun(runs.at(-1) ?? '', 'by another person', Date.now())
  const asked = page.waitForRequest(/\/api\/v1\/(?!live)/)
  await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))')
  await asked
  held.resolve()
  await page.getByText('61 shown').waitFor()
  await canceledIn(page).waitFor()
})

inBrowser(`a list of four pages rests four times as long as one, and what people set up for 5 s${label}`, async () => {
  const { page, login, origin, app, hear } = await open()
  const runs = await makeRuns(app, 160)
  app.notices.publish({ kind: 'run.queued', count: 160 })
  await hear('run.parked', ({ run }) => run === runs.at(-1))
  await login(page)
  await page.clock.install()
  await page.goto(`${origin}/runs?workflow=wait-for-approval`)
  for (const shown of [100, 150, 161]) {
    await page.getByRole('button', { name: 'Older' }).click()
    await page.getByText(`${shown} shown`).waitFor()
  }
  await page.clock.pauseAt(new Date(Date.now() + 60_000))
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname.replace(/.*v1/, '')))
  for (let second = 0; second < 20; second++) {
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))')
    await page.clock.runFor(1_000)
    // Answers come meanwhile.
    await page.evaluate('fetch("one").then(() => fetch("two")).then(() => {})')
  }
  const count = (path: string) => asked.filter((each) => each === path).length
  // At most every 2 s and every 5 s, and what was on its way before.
  expect(count('/runs')).toBeLessThanOrEqual(4 * (20 / 2 + 1))
  expect(count('/runs')).toBeGreaterThanOrEqual(2 * 4)
  expect(count('/session')).toBeLessThanOrEqual(20 / 5 + 1)
  expect(count('/workflows')).toBeLessThanOrEqual(20 / 5 + 1)
})

inBrowser(`rows that come do not ask anew for what people set up${label}`, async () => {
  const { page, login, origin, app } = await open()
  await login(page)
  await page.clock.install()
  await page.goto(`${origin}/runs?workflow=wait-for-approval`)
  const rows = page.getByRole('row', { name: /wait-for-approval/ })
  await rows.first().waitFor()
  const before = await rows.count()
  await page.clock.pauseAt(new Date(Date.now() + 60_000))
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname.replace(/.*v1/, '')))
  const begun = await page.evaluate<number>('Date.now()')
  for (let run = 0; run < 10; run++) {
    await app.store.saveDelivery(madeOf(`above${run}`, 'report.made', ['wait-for-approval']))
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))')
    await page.clock.runFor(1_100)
    // The page shows an answer a moment after it came.
    await expect.poll(() => page.clock.runFor(50).then(() => rows.count())).toBe(before + run + 1)
  }
  const seconds = ((await page.evaluate<number>('Date.now()')) - begun) / 1_000
  // At most every 5 s for the feed, and as often for what is new on the page.
  expect(asked.filter((path) => path === '/workflows').length).toBeLessThanOrEqual(2 * (seconds / 5 + 1))
})

inBrowser(`changes that come faster than answers do not keep the page as it was${label}`, async () => {
  const { page, login, app } = await open()
  const [run = ''] = await makeRuns(app, 1)
  await login(page, 'admin', 'runs?workflow=wait-for-approval')
  await page.getByText('Live', { exact: true }).waitFor()
  const asked: Promise<void>[] = []
  const held = Promise.withResolvers<void>()
  await page.route(/\/runs\?/, async (route) => {
    const answer = await route.fetch()
    asked.push(held.promise)
    await held.promise
    await route.fulfill({ response: answer }).catch(() => {})
  })
  await app.store.cancelRun(run, 'by another person', Date.now())
  const change = () => page.evaluate('document.dispatchEvent(new Event("visibilitychange"))')
  await expect.poll(() => change().then(() => asked.length)).toBe(1)
  for (let changes = 0; changes < 5; changes++) await change()
  held.resolve()
  await canceledIn(page).waitFor()
  // The changes meanwhile are asked for once, and not each.
  await expect.poll(() => asked.length).toBe(2)
})

inBrowser(`a row keeps the focus when a run comes above it${label}`, async () => {
  const { page, login, app } = await open()
  await makeRuns(app, 3)
  await login(page, 'admin', 'runs?workflow=wait-for-approval')
  const rows = page.getByRole('row', { name: /wait-for-approval/ })
  await rows.nth(2).focus()
  const { focus } = (await readPlace(page)) as { focus: string }
  await app.store.saveDelivery(madeOf('above', 'report.made', ['wait-for-approval']))
  await rows.nth(4).waitFor()
  expect(await readPlace(page)).toMatchObject({ focus, row: 4 })
})

inBrowser(`a selection holds the page still until it ends, and no other page${label}`, async () => {
  const { page, login, app } = await open()
  const [run = ''] = await makeRuns(app, 1)
  await login(page, 'admin', 'runs?workflow=wait-for-approval')
  await page.getByText('Live', { exact: true }).waitFor()
  const boxes = page.getByRole('table', { name: 'Runs' }).getByRole('checkbox')
  await boxes.last().check()
  await page.getByText('Paused', { exact: true }).waitFor()
  await app.store.cancelRun(run, 'by another person', Date.now())
  expect(await boxes.last().isChecked()).toBe(true)
  expect(await canceledIn(page).count()).toBe(0)
  await boxes.last().uncheck()
  await canceledIn(page).waitFor()
  await boxes.last().check()
  await page.getByRole('link', { name: 'Events', exact: true }).click()
  await page.getByText('Live', { exact: true }).waitFor()
})

inBrowser(`eight tabs hold one connection to the live feed${label}`, async () => {
  const feeds = new Set<IncomingMessage>()
  const count = (message: unknown) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse }
    if (!request.url?.endsWith('/api/v1/live')) return
    feeds.add(request)
    response.once('close', () => feeds.delete(request))
  }
  subscribe('http.server.request.start', count)
  onTestFinished(() => void unsubscribe('http.server.request.start', count))
  const { page, login, origin } = await open()
  await login(page)
  const tabs = [page]
  while (tabs.length < 8) {
    const tab = await page.context().newPage()
    await tab.goto(`${origin}/effects`)
    tabs.push(tab)
  }
  for (const tab of tabs) await tab.getByText('Live', { exact: true }).waitFor()
  expect(feeds.size).toBe(1)
})

inBrowser(`a second tab shows what changed while it stood still, and so does one from plain HTTP${label}`, async () => {
  const { page, login, origin, app } = await open()
  const [run = ''] = await makeRuns(app, 1)
  await login(page)
  await page.getByText('Live', { exact: true }).waitFor()
  const [second, plain] = [await page.context().newPage(), await page.context().newPage()]
  await plain.addInitScript('Object.defineProperty(navigator, "locks", { value: undefined })')
  for (const tab of [second, plain]) await tab.goto(`${origin}/runs?workflow=wait-for-approval`)
  await second.getByText('Live', { exact: true }).waitFor()
  await plain.getByText('Every 5 s').waitFor()
  const box = second.getByRole('table', { name: 'Runs' }).getByRole('checkbox').last()
  // The answer to a question of before the pause comes during it.
  const asked = Promise.withResolvers<() => Promise<void>>()
  const hold = (route: Route) => asked.resolve(() => route.continue().catch(() => {}))
  await second.route('**/api/v1/runs?*', hold, { times: 1 })
  await app.store.pauseWorkflow('copy-report', Date.now())
  const answer = await asked.promise
  await box.check()
  await app.store.cancelRun(run, 'by another person', Date.now())
  await answer()
  await canceledIn(plain).waitFor()
  expect(await canceledIn(second).count()).toBe(0)
  await box.uncheck()
  await canceledIn(second).waitFor()
})

inBrowser(`a feed that falls silent is opened again, and a tab that nobody sees asks for nothing${label}`, async () => {
  const { page, login } = await open()
  await page.clock.install()
  await login(page)
  await page.getByText('Live', { exact: true }).waitFor()
  const reopened = page.waitForRequest(/\/api\/v1\/live$/)
  await page.clock.fastForward(60_000)
  await reopened
  await page.getByText('Live', { exact: true }).waitFor()
  await page.addInitScript('Object.defineProperty(navigator, "locks", { value: undefined })')
  await page.reload()
  await page.getByText('Every 5 s').waitFor()
  // Another look finds an answer on its way: it asks once more when that has come.
  const held = Promise.withResolvers<() => Promise<void>>()
  await page.route('**/api/v1/**', (route) => held.resolve(() => route.continue()), { times: 1 })
  await page.clock.runFor(5_000)
  const answer = await held.promise
  await page.clock.runFor(5_000)
  await page.evaluate('Object.defineProperty(document, "hidden", { value: true, configurable: true })')
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  // Behind this request, those of before are told.
  await Promise.all([page.waitForRequest('**/last'), page.evaluate('fetch("last").then(() => {})')])
  asked.length = 0
  await answer()
  await page.clock.runFor(60_000)
  expect(asked).toEqual([])
  await page.evaluate('delete document.hidden; document.dispatchEvent(new Event("visibilitychange"))')
  await expect.poll(() => asked.length).toBeGreaterThan(0)
})

/** Makes runs that wait for a person; resolves with their ids, in the order of their making. */
async function makeRuns(app: Awaited<ReturnType<typeof open>>['app'], count: number): Promise<string[]> {
  for (let event = 0; event < count; event++) {
    await app.store.saveDelivery(madeOf(`live${event}`, 'report.made', ['wait-for-approval']))
  }
  const runs = await app.store.listRuns({ limit: count, workflow: 'wait-for-approval' })
  return runs.map(({ id }) => id).toReversed()
}

const canceledIn = (page: Page) => page.getByRole('table', { name: 'Runs' }).getByText('canceled')

/** Where the reader is: the focus, the scroll and the open menu. */
function readPlace(page: Page): Promise<unknown> {
  return page.evaluate(`({
    focus: document.activeElement?.querySelector('a')?.getAttribute('href'),
    row: document.activeElement?.rowIndex,
    scroll: scrollY,
    menus: document.querySelectorAll(':popover-open, details[open]').length,
  })`)
}
