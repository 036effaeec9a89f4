import type { Page } from 'playwright-core'
import { z } from 'zod'
import { callable, defineWorkflow } from '../../../src/author/index.ts'
import { LOGIN_CODE_MS } from '../../../src/core/access/session.ts'
import { hashSecret } from '../../../src/core/access/token.ts'
import { newId, randomWord } from '../../../src/core/ids.ts'
import type { Config } from '../../../src/project/config/load-config.ts'
import { startTestApp } from '../../support/test-app.ts'
import { define } from '../../support/workflows.ts'

/** A name that would be markup where a page forgot to escape. */
export const HOSTILE = `<img src=x onerror="document.title='pwned'">\u202etxt.exe`

/** Whether the failing workflow still fails. */
export const mood = { isBroken: true }

const copying = define('copy-report', { on: 'report.made', retry: { attempts: 1 } }, async ({ event, step }) => {
  await step.run('read', () => event.data, { effect: 'read' })
  return step.run('copy', () => {
    if (mood.isBroken) throw new Error(`the storage is full: ${HOSTILE}`)
    return { copied: HOSTILE }
  })
})

const waiting = define('wait-for-approval', { on: 'report.made' }, ({ step }) =>
  step.waitFor('approval', { on: 'report.approved', timeout: '7d' }),
)

const retired = ['/old/a.txt', '/old/b.txt', `/old/${HOSTILE}`]

const retiring = define(
  'retire-files',
  { on: 'report.retired', guard: { deletes: { perRun: 0 } } },
  async ({ files, event }) => {
    const { ids, inTurn } = event.data as { ids: string[]; inTurn?: boolean }
    const remove = (id: string) => files.delete({ service: 'storage_a', id })
    if (inTurn) for (const id of ids) await remove(id)
    else await Promise.all(ids.map(remove))
  },
)

const asking = define('ask-first', { on: 'report.asked' }, ({ step }) => {
  const file = { service: 'storage_a', id: 'fil_9', type: 'file', mimeType: null, createdAt: null } as const
  const seen = { name: 'asked.txt', path: '/old/asked.txt', size: null, modifiedAt: '2026-01-10T03:12:07Z' }
  return step.approve('retire', { ask: `Delete it? ${HOSTILE}`, deletes: [{ ...file, ...seen }] })
})

/** Lets the comparison go on, and end. */
export const comparison = { goOn: Promise.withResolvers<void>(), end: Promise.withResolvers<void>() }

const comparing = defineWorkflow({
  id: 'compare-folders',
  on: 'report.compared',
  tags: ({ data }) => ({ customer: String(data.customer), 'region.of.the.storage': HOSTILE.slice(0, 60) }),
  async run({ step, progress }) {
    progress(341, 1_000, 'files compared')
    await step.run('compare', async () => {
      await comparison.goOn.promise
      progress(915, 1_000, 'files compared')
      await comparison.end.promise
    })
  },
})

const scanning = define('scan-report', { on: 'report.scanned' }, async ({ step }) => {
  const data = z.object({ verdict: z.enum(['clean', 'infected']) })
  const scan = await step.hook('scan', { data, expires: '2h', ask: `Is ${HOSTILE} clean?` })
  const answer = await step.waitFor('scanned', scan)
  return answer?.data.verdict
})

const counting = defineWorkflow({
  id: 'count-reports',
  on: callable(z.number()),
  run: async ({ input, step }) => (input < 2 ? step.continueAs(input + 1) : input),
})

/** The app with the dashboard, a failed run and a waiting one. `login` opens a page as a role. */
export async function openDashboard(config: Partial<Config> = {}) {
  mood.isBroken = true
  const started = await startTestApp(
    { workflows: [copying, waiting, retiring, asking, counting, comparing, scanning] },
    { config },
  )
  const { app, urls, sandbox } = started
  const basePath = config.admin?.basePath ?? ''
  const origin = `${urls.admin}${basePath}`
  await app.store.saveDelivery(madeOf('report1', 'report.made', ['copy-report', 'wait-for-approval']))
  app.notices.publish({ kind: 'run.queued', count: 2 })
  await started.hear('run.failed')
  const makeLink = async (role: 'viewer' | 'operator' | 'admin') => {
    const code = randomWord()
    const expiresAt = Date.now() + LOGIN_CODE_MS
    await app.store.saveLoginCode({ hash: hashSecret(code), name: 'ada', role, expiresAt })
    return `${origin}/login#${code}`
  }
  /** Logs in as somebody who asked for this place. */
  const login = async (page: Page, role: 'viewer' | 'operator' | 'admin' = 'admin', place = '') => {
    const link = await makeLink(role)
    const kept = `sessionStorage.setItem('upshot.place', ${JSON.stringify(`${origin}/${place}`)})`
    await page.addInitScript(`if (location.href === ${JSON.stringify(link)}) ${kept}`)
    await page.goto(link)
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  }
  /** A run asks for three deletes, or for one, and is held. Resolves with the approval. */
  const retire = async (more: { inTurn?: boolean } = {}) => {
    const ids: string[] = []
    for (const path of retired) ids.push((await sandbox.storage('storage_a').put(path, 'four')).id)
    await app.store.saveDelivery(madeOf('report2', 'report.retired', ['retire-files'], { ids, ...more }))
    app.notices.publish({ kind: 'run.queued', count: 1 })
    await started.hear('run.parked', ({ workflow }) => workflow === 'retire-files')
    const [approval] = await app.store.listApprovals({ status: 'open', limit: 1, now: Date.now() })
    return approval?.id ?? ''
  }
  /** A run asks people about one file, whose size the service did not tell. */
  const ask = async () => {
    await app.store.saveDelivery(madeOf('report3', 'report.asked', ['ask-first']))
    app.notices.publish({ kind: 'run.queued', count: 1 })
    await started.hear('run.parked', ({ workflow }) => workflow === 'ask-first')
  }
  /** A run waits at a callback URL; resolves with its id. */
  const scan = async () => {
    await app.store.saveDelivery(madeOf('report4', 'report.scanned', ['scan-report']))
    app.notices.publish({ kind: 'run.queued', count: 1 })
    const { run } = await started.hear('run.parked', ({ workflow }) => workflow === 'scan-report')
    return run
  }
  /** A run that another one continues; resolves with its id when both have ended. */
  const count = async () => {
    const run = newId('run', Date.now())
    await app.store.startRun({ run, workflow: 'count-reports', account: 'default', input: '1', createdAt: Date.now() })
    app.notices.publish({ kind: 'run.queued', count: 1 })
    await started.hear('run.completed', ({ continuedBy, workflow }) => workflow === 'count-reports' && !continuedBy)
    return run
  }
  return { ...started, sandbox, origin, makeLink, login, retire, ask, scan, count }
}

/** A delivery that is stored with the runs that it starts. */
export function madeOf(name: string, type: string, workflows: string[], more: object = {}) {
  const event = { id: `evt_${name}`, type, created: new Date().toISOString() }
  const path = `/${HOSTILE}`
  const [source, destination] = ['storage_a', 'storage_b'].map((service) => ({ service, path }))
  const transfer = { id: `trf_${name}`, source, destination }
  const data = { file: { id: 'fil_1', name: HOSTILE, path }, service: 'storage_a', transfer, ...more }
  return {
    id: `dlv_${name}`,
    endpointId: 'end_test',
    account: 'default',
    receivedAt: Date.now(),
    facts: {},
    event,
    body: JSON.stringify({ ...event, data }),
    workflows,
  }
}
