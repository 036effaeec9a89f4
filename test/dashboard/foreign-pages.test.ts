import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import { browserTests } from './support/in-browser.ts'

const { inBrowser, label, open } = browserTests()

/** Tries to read and to act with the login of the browser; resolves with what succeeded. */
const ATTACK = `async (api, run) => {
  const won = []
  const cancel = api + '/runs/' + run + '/cancel'
  const json = { 'content-type': 'application/json' }
  const tries = {
    read: () => fetch(api + '/runs', { credentials: 'include' }),
    'plain post': () => fetch(cancel, { method: 'POST', body: '{}', credentials: 'include' }),
    'json post': () => fetch(cancel, { method: 'POST', headers: json, body: '{}', credentials: 'include' }),
    'with a key': () => fetch(api + '/runs', { headers: { 'x-upshot': 'guessed' }, credentials: 'include' }),
  }
  for (const [name, attempt] of Object.entries(tries)) {
    if (await attempt().then((response) => response.ok, () => false)) won.push(name)
  }
  await fetch(cancel, { method: 'POST', mode: 'no-cors', body: '{}', credentials: 'include' }).catch(() => {})
  if (await new Promise((done) => {
    const feed = new EventSource(api + '/live', { withCredentials: true })
    feed.onopen = () => done(true)
    feed.onerror = () => done(feed.close())
  })) won.push('feed')
  if (await new Promise((done) => {
    const script = Object.assign(document.createElement('script'), { src: api + '/runs' })
    script.onload = () => done(true)
    script.onerror = () => done(false)
    document.head.append(script)
  })) won.push('script')
  const frame = Object.assign(document.createElement('iframe'), { name: 'target' })
  document.body.append(frame)
  const form = Object.assign(document.createElement('form'), {
    action: cancel, method: 'POST', enctype: 'text/plain', target: 'target',
  })
  form.append(Object.assign(document.createElement('input'), { name: '{"reason":"', value: '"}' }))
  document.body.append(form)
  const sent = new Promise((done) => { frame.onload = done })
  form.submit()
  await sent
  return won
}`

/** Logs in without the dashboard's code, whose own requests would be taken for an attack. */
const LOG_IN = `async (link) => {
  const code = new URL(link).hash.slice(1)
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch('/api/v1/login', { method: 'POST', headers, body: JSON.stringify({ code }) })
  localStorage.setItem('upshot.key:/', (await answer.json()).key)
}`

inBrowser(
  `no page of another port, of another site or of a rebound name reads or acts with a login${label}`,
  async () => {
    const { page, makeLink, origin, app } = await open()
    await page.goto(`${origin}/mark.svg`)
    await page.evaluate(`(${LOG_IN})('${await makeLink('admin')}')`)
    const foreign = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>foreign</title><body>')
    }).listen(0)
    onTestFinished(() => void foreign.close())
    const { port } = foreign.address() as AddressInfo
    const [run] = await app.store.listRuns({ limit: 1, workflow: 'wait-for-approval' })
    const api = `${origin}/api/v1`
    // An answer that a foreign page may not read is one all the same.
    const answered: string[] = []
    app.notices.subscribe('admin.answered', ({ operation, status }) => {
      if (status < 400) answered.push(operation)
    })
    for (const site of [`http://127.0.0.1:${port}`, `http://localhost:${port}`]) {
      await page.goto(site)
      expect([site, await page.evaluate(`(${ATTACK})('${api}', '${run?.id}')`)]).toEqual([site, []])
      await page.evaluate(
        `document.body.append(Object.assign(document.createElement('iframe'), { src: '${origin}/runs' }))`,
      )
      const framed = page.frames().find((frame) => frame.url().startsWith(origin))
      expect(await framed?.locator('nav').count()).toBeFalsy()
    }
    expect(answered).toEqual([])
    const rebound = await page.goto(`${origin.replace('127.0.0.1', 'rebound.localhost')}/runs`)
    expect(rebound?.status()).toBe(421)
    expect((await app.store.findRun(run?.id ?? ''))?.status).toBe('waiting')
    expect(await app.store.listActions({ limit: 10, action: 'run.cancel' })).toEqual([])
    // The page itself, in the same browser, may.
    await page.goto(`${origin}/runs/${run?.id}`)
    await page
      .getByRole('button', { name: /Cancel/ })
      .first()
      .waitFor()
  },
)
