import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '../../../../../src/project/data-dir/open-store.ts'
import { eventBody, incoming } from '../../../../support/fixtures.ts'
import { listen } from '../../../../support/listen.ts'
import { DOOR } from '../../../../support/program.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'
import { startTestApp } from '../../../../support/test-app.ts'
import { runHere } from '../../../support/run-here.ts'

/** An app whose sandbox has these files, with an event and a folder for code that runs on it. */
async function openFiles(...paths: string[]) {
  const { dataDir, sandbox } = await startTestApp()
  const storage = sandbox.storage('storage_a')
  for (const path of paths) await storage.put(path, 'bytes')
  const store = await openStore({ dataDir, secretKey: null })
  const body = eventBody('evt_1', 'batch.done', { folder: '/in' })
  await store.saveDelivery(incoming('evt_1', { body, workflows: [] }))
  const before = { runs: await store.listRuns({ limit: 9 }), effects: await store.listEffects({ limit: 9 }) }
  const list = () => storage.list().map(({ path, size }) => ({ path, size }))
  const files = list()
  const isUntouched = async () => {
    expect(list()).toEqual(files)
    expect({ runs: await store.listRuns({ limit: 9 }), effects: await store.listEffects({ limit: 9 }) }).toEqual(before)
    await store.close()
  }
  const folder = tempFolder()
  const plan = (run: string, ...args: string[]) => {
    const code = `import { defineWorkflow } from '${DOOR}'
export default defineWorkflow({ id: 'tidy', on: 'batch.done', run: ${run} })`
    writeFileSync(join(folder, 'tidy.workflow.ts'), code)
    const isChosen = args.some((arg) => ['--file', '--last'].includes(arg))
    const named = isChosen ? [] : ['evt_1']
    return runHere(dataDir, ['plan', ...named, '--workflow', 'tidy', '--workflows', folder, ...args])
  }
  return { plan, isUntouched, store, folder, sandbox }
}

const TIDY = `async ({ event, files, step }) => {
  const { items } = await files.snapshot({ service: 'storage_a', path: event.data.folder })
  await step.sleep('grace', '15m')
  let gone = 0
  for (const file of items) if ((await files.delete(file, { expect: file })).outcome === 'deleted') gone++
  const left = await files.list({ service: 'storage_a', path: event.data.folder })
  await step.send('tell', 'tidied', { gone })
  return { gone, left: left.items.length }
}`

test('"plan" tells every delete of a run to its end, sees what they leave behind, and does nothing', async () => {
  const { plan, isUntouched } = await openFiles('/in/a.txt', '/in/b.txt', '/kept.txt')
  const { exit, json } = await plan(TIDY, '--json')
  expect(exit).toBe(0)
  expect(json.data).toMatchObject({
    workflow: 'tidy',
    event: 'evt_1',
    end: { kind: 'completed', output: { gone: 2, left: 0 } },
    effects: [
      { class: 'delete', operation: 'files.delete', outcome: 'deleted', source: 'derived', asked: { bytes: 5 } },
      { class: 'delete', outcome: 'deleted' },
      { class: 'send', target: 'tidied', body: { gone: 2 } },
    ],
    undeclared: [],
    held: [],
  })
  const paths = json.data.effects.slice(0, 2).map(({ asked }: { asked: { path: string } }) => asked.path)
  expect(paths.sort()).toEqual(['/in/a.txt', '/in/b.txt'])
  const { stdout } = await plan(TIDY)
  expect(stdout).toContain('would complete: {"gone":2,"left":0}')
  expect(stdout).toMatch(/DELETE +files\.delete\[storage_a:.*\/in\/a\.txt +5 B +deleted, only if unchanged/)
  expect(stdout).toContain('2 deletes (10 B), 1 other effect. Nothing was done:')
  await isUntouched()
})

test('"plan" leaves a file in its listings that has changed, for it would not be deleted', async () => {
  const { plan, isUntouched } = await openFiles('/in/a.txt', '/in/b.txt')
  const { json } = await plan(
    `async ({ files }) => {
  const look = () => files.list({ service: 'storage_a', path: '/in' })
  const [file] = (await look()).items
  const { outcome } = await files.delete(file, { expect: { ...file, size: 1 } })
  return { outcome, left: (await look()).items.length }
}`,
    '--json',
  )
  expect(json.data.end).toMatchObject({ kind: 'completed', output: { outcome: 'changed', left: 2 } })
  await isUntouched()
})

test('"plan" tells what the guard would hold, and where nobody knows how the run goes on', async () => {
  const many = Array.from({ length: 240 }, (_, index) => `/in/${index}.txt`)
  const { plan, isUntouched } = await openFiles(...many)
  const loop = `async ({ files, step }) => {
    const { items } = await files.snapshot({ service: 'storage_a', path: '/in' })
    for (const file of items.slice(0, 24)) await files.delete(file)
    await step.run('open ticket', () => fetch('http://127.0.0.1:9'))
    throw new Error('never reached')
  }`
  const { exit, json } = await plan(loop, '--json')
  expect(exit).toBe(8)
  expect(json.data.end).toMatchObject({ kind: 'open', step: 'open ticket' })
  expect(json.data.effects.filter(({ outcome }: { outcome: string }) => outcome === 'deleted')).toHaveLength(24)
  expect(json.data.held.length).toBeGreaterThan(0)
  expect(json.data.held[0]).toMatchObject({
    over: 'approve',
    reason: expect.stringContaining('20 deletes in one run'),
  })
  const { stdout } = await plan(loop)
  expect(stdout).toContain('be open at step "open ticket"')
  expect(stdout).toMatch(
    /The guard: step "files\.delete\[.*would wait for people: over the limit of 20 deletes in one run/,
  )
  await isUntouched()
})

test('"plan" leaves with 7 where code acts outside its steps, and with 1 where the run would fail', async () => {
  const { plan, isUntouched } = await openFiles('/in/a.txt')
  const acting = await plan(`async () => { await fetch('http://127.0.0.1:9').catch(() => {}) }`)
  expect(acting.exit).toBe(7)
  expect(acting.stdout).toMatch(/Refused\n +fetch GET outside of every step at .*tidy\.workflow\.ts:2:/)
  const failing = await plan(`async ({ files }) => files.get({ service: 'storage_a', id: 'fil_none' })`)
  expect(failing.exit).toBe(1)
  expect(failing.stdout).toContain('would fail: ')
  expect((await plan('nothing.at.all')).exit).toBe(5)
  await isUntouched()
})

test('"plan" lets a read that asks by POST through where it is told to trust reads, and else names it', async () => {
  const { plan, isUntouched } = await openFiles('/in/a.txt')
  const asks: string[] = []
  const server = createServer((request, response) => {
    asks.push(`${request.method} ${request.url}`)
    response.end('7')
  })
  const url = `${await listen(server)}/search`
  const run = `async ({ step }) => step.run('search', async () => (await fetch('${url}', { method: 'POST' })).text(),
    { effect: 'read', retry: { attempts: 1 } })`
  const refused = await plan(run)
  expect([refused.exit, asks]).toEqual([7, []])
  expect(refused.stdout).toMatch(/would fail: .*Where it only reads, add --trust-reads/)
  expect(refused.stdout).toMatch(/Refused\n +fetch POST in the read step "search" at .*tidy\.workflow\.ts:2:/)
  const trusted = await plan(run, '--trust-reads', '--json')
  expect([trusted.exit, trusted.json.data.end, asks]).toEqual([0, { kind: 'completed', output: '7' }, ['POST /search']])
  await isUntouched()
})

test('"plan" takes the body of an event from a file, the newest events of a workflow, and recorded reads', async () => {
  const { plan, store, folder } = await openFiles('/in/a.txt', '/in/b.txt')
  const file = join(folder, 'event.json')
  writeFileSync(file, eventBody('evt_new', 'batch.done', { folder: '/in' }))
  const { json } = await plan(TIDY, '--file', file, '--json')
  expect(json.data).toMatchObject({ event: 'evt_new', end: { kind: 'completed', output: { gone: 2 } } })
  const known = { id: 'tidy', file: 'tidy.workflow.ts', eventTypes: ['batch.done'], schedule: null }
  await store.saveWorkflows({ workflows: [known], broken: [] }, Date.now())
  const body = eventBody('evt_2', 'batch.done', { folder: '/none' })
  await store.saveDelivery(incoming('evt_2', { body, workflows: [] }))
  const last = await plan(TIDY, '--last', '9', '--json')
  expect(last.json.data.plans.map(({ event }: { event: string }) => event)).toEqual(['evt_2', 'evt_1'])
  const { stdout } = await plan(TIDY, '--last', '9')
  expect(stdout).toMatch(/evt_1 +complete: .*gone":2.* 2 +10 B/)
  expect(stdout).toContain('2 deletes (10 B)')
  const recorded = await plan(TIDY, '--reads', 'recorded', '--json')
  expect(recorded.json.data).toMatchObject({
    end: { kind: 'open', reason: 'no recorded answer to this read' },
    readsSent: 0,
  })
  const unread = `async ({ files }) => (await files.delete({ service: 'storage_a', id: 'fil_1' })).outcome`
  const blind = await plan(unread, '--reads', 'recorded', '--json')
  expect(blind.json.data).toMatchObject({ end: { kind: 'open' }, readsSent: 0 })
  expect((await plan(TIDY, '--last', '9', '--file', file)).exit).toBe(2)
  await store.close()
})

test('"plan" of a workflow that gathers events previews a run of the one event', async () => {
  const { plan, isUntouched } = await openFiles()
  const gathers = `({ events }) => events.map(({ data }) => data.folder), batch: { size: 3, wait: '1m' }`
  const { exit, json } = await plan(gathers, '--json')
  expect(json.data.end).toMatchObject({ kind: 'completed', output: ['/in'] })
  expect(exit).toBe(0)
  await isUntouched()
})

test('"plan" tells of a list that is too large for the guard that all of it would wait', async () => {
  const { plan, isUntouched } = await openFiles('/in/a.txt', '/in/b.txt')
  const run = `async ({ files }) => {
    const { items } = await files.snapshot({ service: 'storage_a', path: '/in' })
    await files.deleteAll(items)
  }, guard: { deletes: { perRun: 1 } }`
  const { json } = await plan(run, '--json')
  expect(json.data.held.map(({ step }: { step: string }) => step)).toEqual(
    json.data.effects.map(({ step }: { step: string }) => step),
  )
  await isUntouched()
})

test('Ctrl-C ends "plan --last" with 130, and no event is planned as one that failed', async () => {
  const { plan, store, sandbox } = await openFiles('/in/a.txt')
  const body = eventBody('evt_2', 'batch.done', { folder: '/in' })
  await store.saveDelivery(incoming('evt_2', { body, workflows: [] }))
  const known = { id: 'tidy', file: 'tidy.workflow.ts', eventTypes: ['batch.done'], schedule: null }
  await store.saveWorkflows({ workflows: [known], broken: [] }, Date.now())
  await sandbox.faults.add({ on: 'files.list', latencyMs: 500 })
  const planned = plan(TIDY, '--last', '2', '--json')
  await expect.poll(() => sandbox.faults.list()[0]?.seen).toBe(1)
  process.emit('SIGINT')
  expect(await planned).toMatchObject({ exit: 130, json: { error: { code: 'aborted' } } })
  await store.close()
})

test('"plan --file" names a file that is not there, or holds no event', async () => {
  const { plan, store, folder } = await openFiles()
  const file = join(folder, 'event.json')
  const planFile = async () => (await plan(TIDY, '--file', file, '--json')).json.error
  expect(await planFile()).toMatchObject({ code: 'invalid_request', message: `Cannot read the file ${file} (ENOENT).` })
  writeFileSync(file, '{')
  expect(await planFile()).toMatchObject({ code: 'invalid_request', message: `${file} is not valid JSON.` })
  writeFileSync(file, '{}')
  expect(await planFile()).toMatchObject({ code: 'invalid_event' })
  await store.close()
})
