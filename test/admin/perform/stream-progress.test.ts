import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { expect, onTestFinished, test } from 'vitest'
import { AdminClient } from '../../../src/admin/client/index.ts'
import type { WorkDone } from '../../../src/admin/contract/route.ts'
import type { Work } from '../../../src/admin/ports/surroundings.ts'
import { UpshotError } from '../../../src/core/errors.ts'
import { beginSweep, newState } from '../../../src/core/service/sweep/sweep-state.ts'
import { openTestStore } from '../../support/test-store.ts'
import { makeRuns } from '../support/bulk.ts'
import { FILE_TOKEN, startConsole, testSurroundings } from '../support/start-console.ts'

const REPORT = { file: 'upshot.db', passed: true, checks: [], rows: { run: 7 } }

/** A server whose check of the database goes on as the test tells it to. */
async function startSlow() {
  const begun = Promise.withResolvers<Work>()
  const end = Promise.withResolvers<void>()
  const verifyDatabase = async (work: Work) => {
    begun.resolve(work)
    await end.promise
    return REPORT
  }
  const started = await startConsole({ surroundings: { ...testSurroundings(), verifyDatabase } })
  const client = new AdminClient({ url: started.base, token: FILE_TOKEN })
  return { ...started, client, begun: begun.promise, end }
}

test('a long operation tells its progress, and then its answer', async () => {
  const { client, begun, end } = await startSlow()
  const heard: WorkDone[] = []
  const halfWay = Promise.withResolvers<void>()
  const onProgress = (work: WorkDone) => {
    heard.push(work)
    if (work.done === 5) halfWay.resolve()
  }
  const asked = client.call('POST /database/verify', { body: {} }, { onProgress })
  ;(await begun).tell({ done: 5, total: 10 })
  await halfWay.promise
  end.resolve()
  expect(await asked).toEqual(REPORT)
  expect(heard).toEqual([
    { done: 0, total: null },
    { done: 5, total: 10 },
  ])
  // An asker that does not listen gets the answer alone.
  expect(await client.call('POST /database/verify', { body: {} })).toEqual(REPORT)
})

test('a long operation that fails tells its problem, and one whose asker goes away hears of it', async () => {
  const failing = await startSlow()
  const asked = failing.client.call('POST /database/verify', { body: {} }, { onProgress: () => {} })
  await failing.begun
  failing.end.reject(new UpshotError('store_unavailable', 'The disk is gone.', { fix: 'Bring it back.' }))
  await expect(asked).rejects.toMatchObject({ status: 503, code: 'store_unavailable', fix: 'Bring it back.' })

  const left = await startSlow()
  const gone = new AbortController()
  const options = { onProgress: () => {}, signal: gone.signal }
  const leaving = left.client.call('POST /database/verify', { body: {} }, options).catch(() => 'left')
  const { signal } = await left.begun
  gone.abort()
  expect(await leaving).toBe('left')
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
  left.end.resolve()
})

test('an agent is notified of the progress of a long operation', async () => {
  const { base, begun, end, makeToken } = await startSlow()
  const requestInit = { headers: { authorization: `Bearer ${await makeToken('admin')}` } }
  const agent = new Client({ name: 'a test', version: '1' })
  await agent.connect(new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit }) as never)
  onTestFinished(() => agent.close())
  const halfWay = Promise.withResolvers<unknown>()
  const asked = agent.callTool({ name: 'verifyDatabase', arguments: {} }, undefined, {
    onprogress: ({ progress, total }) => halfWay.resolve({ progress, total }),
  })
  ;(await begun).tell({ done: 5, total: 10 })
  expect(await halfWay.promise).toEqual({ progress: 5, total: 10 })
  end.resolve()
  const { content } = (await asked) as unknown as { content: [{ text: string }] }
  expect(JSON.parse(content[0].text)).toEqual(REPORT)
})

test('coverage waits for a sweep that is under way, and tells how far it is', async () => {
  const { base, store, clock } = await startConsole()
  const client = new AdminClient({ url: base, token: FILE_TOKEN })
  const key = { account: 'default', storage: 'storage_a' } as const
  const plan = { ...key, path: '/', recursive: true, everyMs: 1, budget: 0.1, graceMs: 1, repair: 'report' } as const
  const state = { ...beginSweep(newState(plan, null), clock.now()), seen: 300, total: 900 }
  await store.saveSweep({ ...key, state, version: 0, forgottenTo: null })
  const { sweeps } = await client.call('GET /system')
  expect(sweeps).toMatchObject([{ underWay: { phase: 'listing', seen: 300, total: 900 } }])
  const heard = Promise.withResolvers<WorkDone>()
  const onProgress = (work: WorkDone) => work.done > 0 && heard.resolve(work)
  const asked = client.call('POST /coverage', { body: { wait: true } }, { onProgress })
  expect(await heard.promise).toEqual({ done: 300, total: 900 })
  const ended = { at: clock.now(), fault: null }
  await store.saveSweep({ ...key, state: { ...state, phase: 'idle', ended }, version: 1, forgottenTo: null })
  clock.advance('1s')
  expect((await asked).storages).toMatchObject([{ sweep: { phase: 'idle', ended: { fault: null } } }])
  expect((await client.call('GET /system')).sweeps).toMatchObject([{ underWay: null }])
})

test('a search, an erasure, a prune and a dry run of many rows tell how far they are', async () => {
  const store = openTestStore()
  const { base, clock } = await startConsole({ store })
  makeRuns(store.folder, 12, 'failed', clock.now() - 1_000)
  const client = new AdminClient({ url: base, token: FILE_TOKEN })
  const heard: WorkDone[] = []
  const onProgress = (work: WorkDone) => heard.push(work)
  const words = { kind: 'text', text: 'Anna Meier' } as const
  const isDryRun = true
  const filter = { status: 'failed' } as const
  const asks: [() => Promise<unknown>, WorkDone | undefined][] = [
    [() => client.call('POST /privacy/find', { body: words }, { onProgress }), undefined],
    [() => client.call('POST /privacy/erase', { body: { ...words, isDryRun } }, { onProgress }), undefined],
    [
      () => client.call('POST /operations', { body: { kind: 'retry', filter, isDryRun } }, { onProgress }),
      { done: 12, total: null },
    ],
    [() => client.call('POST /retention/prune', { body: {} }, { onProgress }), { done: 7, total: null }],
  ]
  for (const [ask, last] of asks) {
    heard.length = 0
    await ask()
    expect(heard.at(-1)).toEqual(last ?? { done: expect.toSatisfy((rows: number) => rows >= 12), total: null })
  }
})
