import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { listen } from '../support/listen.ts'
import { openDataDir } from '../support/open-data-dir.ts'
import { postDelivery } from '../support/post-delivery.ts'
import { DOOR } from '../support/program.ts'
import { makeProject, startIn } from '../support/start-process.ts'
import { NO_SERVICE_VARIABLES, WEBHOOK_SECRET } from '../support/test-config.ts'

const ENVIRONMENT = { ...NO_SERVICE_VARIABLES, UPSHOT_EFFECTS: 'plan' }

/** A server whose answers the test gives. Each request is in the middle of a plan. */
async function openAsked() {
  const asked: { url: string; answer: () => void; closed: Promise<void> }[] = []
  const server = createServer((request, response) => {
    const closed = new Promise<void>((done) => response.on('close', done))
    asked.push({ url: `${request.method} ${request.url}`, answer: () => response.end('7'), closed })
  })
  const next = async (count: number) => {
    await expect.poll(() => asked.length).toBe(count)
    return asked[count - 1] as (typeof asked)[number]
  }
  return { asked, next, url: await listen(server) }
}

test('a run whose process is killed in the middle of its plan is planned once, and has done nothing', async () => {
  const { asked, next, url } = await openAsked()
  const root = makeProject({
    'tidy.workflow.ts': `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: 'tidy', on: 'file.created', run: async ({ step }) => {
  await step.run('before', () => fetch('${url}/write', { method: 'POST' }), { dry: () => 1 })
  const look = async () => (await fetch('${url}/look')).text()
  const seen = await step.run('look', look, { effect: 'read', retry: { attempts: 1 } })
  await step.send('tell', 'tidied', { seen })
  return seen
} })`,
  })
  const start = async () => {
    const app = startIn(root, ENVIRONMENT)
    const { urls } = await app.line(({ message }) => message === 'started')
    return { ...app, hook: (urls as Record<string, string>)['endpoint service'] ?? '' }
  }
  const first = await start()
  expect(await postDelivery(first.hook, WEBHOOK_SECRET, 'evt_1')).toMatchObject({ status: 200 })
  let killed = first
  for (const count of [1, 2]) {
    const { closed } = await next(count)
    killed.child.kill('SIGKILL')
    expect(await killed.exited).toMatchObject({ signal: 'SIGKILL' })
    // The process that previewed the code goes with it.
    await closed
    killed = await start()
  }
  // The sender has not heard an answer, and repeats.
  expect(await postDelivery(killed.hook, WEBHOOK_SECRET, 'evt_1')).toMatchObject({ status: 200 })
  const { answer } = await next(3)
  answer()
  await killed.line(({ message }) => message === 'run planned')
  killed.child.kill('SIGTERM')
  expect(await killed.exited).toMatchObject({ code: 0 })
  const store = openDataDir({ dataDir: join(root, 'data'), secretKey: null })
  onTestFinished(() => store.close())
  const runs = await store.listRuns({ limit: 9 })
  expect(runs).toMatchObject([{ workflow: 'tidy', status: 'planned', eventId: 'evt_1', error: null }])
  expect(JSON.parse(runs[0]?.output ?? '')).toMatchObject({
    end: { kind: 'completed', output: '"7"' },
    effects: [
      { class: 'write', step: 'before', source: 'declared' },
      { class: 'send', target: 'tidied', body: '{"seen":"7"}' },
    ],
  })
  expect(await store.listSteps(runs[0]?.id ?? '')).toEqual([])
  expect(await store.listEffects({ limit: 9 })).toEqual([])
  expect(await store.listEvents({ limit: 9 })).toHaveLength(1)
  expect(killed.lines.filter(({ message }) => message === 'run planned')).toHaveLength(1)
  expect(asked.map((each) => each.url)).toEqual(Array(3).fill('GET /look'))
})
