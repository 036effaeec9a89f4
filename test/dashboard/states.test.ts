import type { Page, Route } from 'playwright-core'
import { expect } from 'vitest'
import { inspectNow } from '../sandbox/support/inspect-page.ts'
import { browserTests, LOOKS, walkTo } from './support/in-browser.ts'

const { inBrowser, label, open: openPage } = browserTests()

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
  'system?tab=operations',
  'system?tab=alerts',
  'system?tab=audit',
  'system?tab=accounts',
  'system?tab=access',
  'events/evt_report1',
  'endpoints/sandbox',
  'workflows/copy-report',
  'history?of=fil_1',
]

/** Elements that were there may move by this much when the answers come; 0.1 is called good. */
const MAX_SHIFT = 0.02
const BROKEN = {
  type: 'urn:upshot:store_unavailable',
  title: 'Store unavailable',
  status: 503,
  code: 'store_unavailable',
  detail: 'The database does not answer.',
  fix: 'Look at the disk.',
}

/** A page that is logged in, whose questions to the API go through `answer` from then on. */
async function open(look: (typeof LOOKS)[number], answer: (route: Route) => Promise<void>) {
  const opened = await openPage(look)
  const { page, login, retire, app } = opened
  await login(page)
  const approval = await retire()
  const [run] = await app.store.listRuns({ limit: 1, workflow: 'copy-report' })
  await page.route((url) => url.pathname.startsWith('/api/v1/') && !/\/(session|live)$/.test(url.pathname), answer)
  return { ...opened, places: [...PLACES, `approvals/${approval}`, `runs/${run?.id}`] }
}

// The narrow one moves most; `in-browser.test.ts` walks the pages in all looks.
inBrowser.each(LOOKS.slice(2))(
  `while the API is silent, every page shows bones, and nothing jumps when it answers, $width px $colorScheme${label}`,
  async (look) => {
    let gate = Promise.withResolvers<void>()
    const {
      page,
      origin,
      faults: heard,
      places,
    } = await open(look, async (route) => {
      await gate.promise
      // A page that was left takes no answer.
      await route.continue().catch(() => {})
    })
    await page.addInitScript(WATCH_SHIFTS)
    const faults: string[] = []
    for (const place of places) {
      gate = Promise.withResolvers()
      await page.goto(`${origin}/${place}`)
      await page
        .locator('[aria-busy="true"]')
        .first()
        .waitFor()
        .catch(async (cause) => {
          const shown = await page.locator('body').innerText()
          throw new Error(`${place} shows no bones, but: ${shown} ${heard().join()}`, { cause })
        })
      faults.push(...(await inspectNow(page, `${place} (loading)`, 'main')))
      const main = (await page.getByRole('main').textContent()) ?? ''
      if (/(^|\W)0 (runs?|shown|failed|received)/.test(main)) faults.push(`${place}: a 0 that nobody counted`)
      await page.evaluate('globalThis.shifts = 0')
      gate.resolve()
      await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
      await settle(page)
      const shift = Number(await page.evaluate('globalThis.shifts'))
      const moved = await page.evaluate('globalThis.moved.join()')
      if (shift > MAX_SHIFT) faults.push(`${place}: jumps by ${shift.toFixed(3)}: ${moved}`)
    }
    expect(faults).toEqual([])
    expect(heard()).toEqual([])
  },
)

inBrowser(`nothing jumps when a late session is answered${label}`, async () => {
  const { page, origin, login } = await openPage(LOOKS[2])
  await login(page)
  const gate = Promise.withResolvers<void>()
  await page.route(/v1.session/, async (route) => {
    await gate.promise
    await route.continue().catch(() => {})
  })
  await page.addInitScript(WATCH_SHIFTS)
  await page.goto(`${origin}/runs`)
  await page.locator('main.login[aria-busy="true"]').waitFor()
  await settle(page)
  await page.evaluate('globalThis.shifts = 0')
  gate.resolve()
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
  await settle(page)
  expect(Number(await page.evaluate('globalThis.shifts'))).toBeLessThanOrEqual(MAX_SHIFT)
})

inBrowser(`nothing jumps when the steps of a run are answered late${label}`, async () => {
  const { page, origin, login, retire, app } = await openPage(LOOKS[2])
  await login(page)
  await retire()
  const [run] = await app.store.listRuns({ limit: 1, workflow: 'copy-report' })
  const gate = Promise.withResolvers<void>()
  await page.route(/v1.runs.[^/]+.steps/, async (route) => {
    await gate.promise
    await route.continue().catch(() => {})
  })
  await page.addInitScript(WATCH_SHIFTS)
  await page.goto(`${origin}/runs/${run?.id}`)
  await page.getByRole('heading', { name: 'copy-report', level: 1 }).waitFor()
  await settle(page)
  await page.evaluate('globalThis.shifts = 0')
  gate.resolve()
  await page.getByRole('region', { name: 'Related runs' }).waitFor()
  await page.locator('main .split').waitFor()
  await settle(page)
  expect(Number(await page.evaluate('globalThis.shifts'))).toBeLessThanOrEqual(MAX_SHIFT)
})

inBrowser.each(LOOKS.slice(1, 2))(
  `while the API is broken, every page says why and what to do, and stays whole, $width px $colorScheme${label}`,
  async (look) => {
    const {
      page,
      origin,
      faults: heard,
      places,
    } = await open(look, (route) =>
      route.fulfill({ status: 503, contentType: 'application/problem+json', body: JSON.stringify(BROKEN) }),
    )
    const faults: string[] = []
    // A whole load forgets the answers that the login has brought.
    await page.goto(`${origin}/runs`)
    await page.getByRole('alert').first().waitFor()
    for (const place of places) {
      await walkTo(page, `${origin}/${place}`)
      const alert = page.getByRole('main').getByRole('alert').first()
      await alert.waitFor()
      const said = (await alert.textContent()) ?? ''
      for (const words of [BROKEN.title, BROKEN.detail, BROKEN.fix]) {
        if (!said.includes(words)) faults.push(`${place}: "${words}" is missing`)
      }
      if ((await page.getByRole('navigation', { name: 'Pages' }).count()) !== 1) faults.push(`${place}: no navigation`)
      if ((await page.locator('h1').count()) !== 1) faults.push(`${place}: no heading`)
      await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
      faults.push(...(await inspectNow(page, `${place} (broken)`, 'main')))
    }
    expect(faults).toEqual([])
    // The browser itself reports each 503.
    expect(heard().filter((complaint) => !complaint.includes('503'))).toEqual([])
  },
)

inBrowser(`a page that is still loading has not the title of the one before${label}`, async () => {
  const gate = Promise.withResolvers<void>()
  const { page, origin, app } = await open(LOOKS[0], async (route) => {
    if (/runs.run_[^/]+$/.test(route.request().url())) await gate.promise
    await route.continue().catch(() => {})
  })
  await page.goto(`${origin}/runs`)
  await page.getByRole('link', { name: /copy-report/ }).click()
  const [run] = await app.store.listRuns({ limit: 1, workflow: 'copy-report' })
  await page.waitForURL(`${origin}/runs/${run?.id}`)
  expect(await page.title()).toBe('Upshot')
  gate.resolve()
  await page.getByRole('heading', { name: 'copy-report', level: 1 }).waitFor()
  expect(await page.title()).toBe('copy-report · Upshot')
})

inBrowser(`a page whose code or session does not come says so, and goes on${label}`, async () => {
  const { page, origin, login } = await openPage()
  await login(page)
  await page.route(/runs-page.*[.]js/, (route) => route.abort())
  await page.getByRole('link', { name: 'Runs', exact: true }).click()
  await page.getByRole('heading', { name: 'This page has failed' }).waitFor()
  expect(await page.getByRole('alert').textContent()).toContain('the app may have been updated')
  await page.getByRole('link', { name: 'Events', exact: true }).click()
  await page.getByRole('heading', { name: 'Events', level: 1 }).waitFor()
  await page.getByRole('link', { name: 'Runs', exact: true }).click()
  await page.unroute(/runs-page.*[.]js/)
  await page.getByRole('button', { name: 'Reload' }).click()
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
  let isBroken = true
  const answer = { status: 503, contentType: 'application/problem+json', body: JSON.stringify(BROKEN) }
  await page.route(/v1.session/, (route) => (isBroken ? route.fulfill(answer) : route.continue()))
  await page.goto(`${origin}/runs`)
  await page.getByText(BROKEN.detail).waitFor()
  isBroken = false
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
})

inBrowser(`a page that is offline, or shown again by the Back button, still follows the app${label}`, async () => {
  const { page, origin, login, app } = await openPage()
  await login(page)
  await page.evaluate('dispatchEvent(new Event("offline"))')
  await page.getByRole('link', { name: 'Runs', exact: true }).click()
  const row = page.getByRole('row', { name: /wait-for-approval/ })
  await row.getByText('waiting').waitFor()
  await page.goto(`${origin}/runs?workflow=wait-for-approval`)
  await page.getByText('Live', { exact: true }).waitFor()
  for (const event of ['pagehide', 'pageshow']) {
    await page.evaluate(`dispatchEvent(new PageTransitionEvent('${event}', { persisted: true }))`)
  }
  const [run] = await app.store.listRuns({ limit: 1, workflow: 'wait-for-approval' })
  await app.store.cancelRun(run?.id ?? '', 'by another process', Date.now())
  await row.getByText('canceled').waitFor()
})

inBrowser(`a planted jump and a planted fault of accessibility are found${label}`, async () => {
  const { page, origin } = await open(LOOKS[0], (route) => route.continue())
  await page.addInitScript(WATCH_SHIFTS)
  await page.goto(`${origin}/runs`)
  await page.locator('h1').waitFor()
  await settle(page)
  await page.evaluate(`globalThis.shifts = 0
    const late = document.createElement('div')
    late.style.height = '300px'
    document.querySelector('main').prepend(late)
    document.querySelector('h1').replaceChildren(document.createElement('img'))`)
  await settle(page)
  expect(Number(await page.evaluate('globalThis.shifts'))).toBeGreaterThan(MAX_SHIFT)
  expect((await inspectNow(page, 'runs', 'main')).join()).toContain('image-alt')
})

/** Two frames, after which the browser has told what moved. */
function settle(page: Page): Promise<unknown> {
  return page.evaluate(
    'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))',
  )
}

/** Adds up what the browser reports as unexpected moves of elements that were on the page. */
const WATCH_SHIFTS = `globalThis.shifts = 0
globalThis.moved = []
new PerformanceObserver((list) => {
  for (const { value, sources } of list.getEntries()) {
    globalThis.shifts += value
    for (const { node } of sources) globalThis.moved.push(node?.outerHTML?.slice(0, 200))
  }
}).observe({ type: 'layout-shift' })`
