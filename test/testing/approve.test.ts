import { expect, test } from 'vitest'
import { defineWorkflow, z } from '../../src/author/index.ts'
import type { NoticeOf } from '../../src/core/notices.ts'
import type { StorageName } from '../../src/core/service/storage.ts'
import { crashEverywhere, type Testbed, testbed } from '../../src/testing/index.ts'
import { define } from '../support/workflows.ts'

const retire = define('retire', { on: 'file.created', guard: { deletes: { perRun: 1 } } }, async ({ step, files }) => {
  const { items } = await files.snapshot({ service: 'storage_a', path: '/in' })
  const verdict = await step.approve('retire batch', {
    ask: `Delete the ${items.length} sources of the batch?`,
    show: { batch: 7 },
    deletes: items,
    answer: z.object({ keep: z.array(z.string()).default([]) }),
    timeout: '2d',
  })
  if (!verdict.approved) return verdict.why
  const doomed = items.filter(({ path }) => !verdict.answer.keep.includes(path))
  const { deleted, changed } = await files.deleteAll(doomed)
  return { deleted: deleted.length, changed: changed.length, by: verdict.by }
})

const asks = define('asks', { on: 'file.created' }, ({ step }) =>
  step.approve('go on', { ask: 'Go on?', needs: 2, by: 'owners' }),
)

async function ask(t: Testbed, files = 3) {
  for (let n = 1; n <= files; n++) await t.storage('storage_a').put(`/in/f${n}.bak`, `file ${n}`)
  await t.send('file.created')
  const [approval] = await t.approvals()
  return approval ?? ''
}

const left = async (t: Testbed) =>
  (await t.storage('storage_a').list()).filter(({ path }) => path.endsWith('.bak')).map(({ path }) => path)

test('a question shows its evidence and its files, and a yes lets them be deleted without another', async () => {
  await using t = await testbed({ workflows: [retire] })
  const approval = await ask(t)
  expect(approval).toMatchObject({
    kind: 'question',
    why: 'Delete the 3 sources of the batch?',
    show: { batch: 7 },
    items: [{ number: 1, asked: { path: '/in/f1.bak', bytes: 6 } }, { number: 2 }, { number: 3 }],
  })
  expect(t.run(retire)).toMatchObject({
    status: 'waiting',
    reason: 'waits for people in step "retire batch": Delete the 3 sources of the batch?',
  })
  await t.approve(approval, { by: 'anna', answer: {} })
  expect(t.run(retire)).toMatchObject({ status: 'completed', output: { deleted: 3, changed: 0, by: ['anna'] } })
  expect(await t.approvals()).toEqual([])
})

test('an answer reaches the run parsed by its schema, and one that does not fit is refused', async () => {
  await using t = await testbed({ workflows: [retire] })
  const approval = await ask(t)
  await expect(t.approve(approval, { answer: { keep: 'all' } })).rejects.toThrow('answer.keep')
  await t.approve(approval, { answer: { keep: ['/in/f2.bak'] } })
  expect(await left(t)).toEqual(['/in/f2.bak'])
})

test('a file that the yes is not for asks the guard as any other', async () => {
  const more = define('more', { on: 'file.created', guard: { deletes: { perRun: 1 } } }, async ({ step, files }) => {
    const { items } = await files.snapshot({ service: 'storage_a', path: '/in' })
    await step.approve('two', { ask: 'Two of them?', deletes: items.slice(0, 2) })
    return files.deleteAll(items)
  })
  await using t = await testbed({ workflows: [more] })
  await t.approve(await ask(t, 4))
  expect(await left(t)).toEqual(['/in/f3.bak', '/in/f4.bak'])
  expect(await t.approvals()).toMatchObject([{ kind: 'guard', items: [{ asked: { path: '/in/f3.bak' } }, {}] }])
})

test('a list says which entry is a folder, and a yes to a question asks for it once more', async () => {
  const whole = define('whole', { on: 'file.created' }, async ({ step, files }) => {
    const { items } = await files.snapshot({ service: 'storage_a', path: '/' })
    const folders = items.filter(({ type }) => type === 'folder')
    await step.approve('all', { ask: 'All of it?', deletes: folders })
    for (const folder of folders) await files.delete(folder, { allowFolder: true })
  })
  await using t = await testbed({ workflows: [whole] })
  const asked = { path: '/in', isFolder: true }
  const approval = await ask(t, 1)
  expect(approval).toMatchObject({ kind: 'question', items: [{ asked }] })
  await t.approve(approval)
  expect(await t.approvals()).toMatchObject([{ kind: 'guard', items: [{ asked }] }])
  expect(await left(t)).toEqual(['/in/f1.bak'])
})

test('a no and the end of the time are verdicts, and never a yes', async () => {
  await using t = await testbed({ workflows: [retire] })
  await t.deny(await ask(t), { by: 'ben', reason: 'not yet' })
  expect(t.run(retire)).toMatchObject({ status: 'completed', output: 'denied' })
  await t.send('file.created')
  await t.advance('49h')
  expect(t.run(retire)).toMatchObject({ status: 'completed', output: 'expired' })
  expect(await left(t)).toHaveLength(3)
})

test.each([
  ['', 'storage_a'],
  [', under another spelling', 'Storage A'],
])('files that a person refused are not deleted by code that ignores the verdict%s', async (_, spelled) => {
  const deaf = define('deaf', { on: 'file.created', retry: { attempts: 1 } }, async ({ step, files }) => {
    const { items } = await files.snapshot({ service: 'storage_a', path: '/in' })
    await step.approve('ask', { ask: 'Delete?', deletes: items })
    return files.deleteAll(items.map((file) => ({ ...file, service: spelled as StorageName })))
  })
  await using t = await testbed({ workflows: [deaf] })
  await t.deny(await ask(t, 1))
  expect(t.run(deaf)).toMatchObject({ status: 'failed', error: { code: 'denied' } })
  expect(await left(t)).toHaveLength(1)
})

test('a yes is for the target that people saw, also where the code of the step names another one by then', async () => {
  let target = 'bucket:old'
  const done: string[] = []
  const tidy = define('tidy', { on: 'file.created', guard: { deletes: { perRun: 0 } } }, ({ step }) =>
    step.run('remove', () => void done.push(target), { effect: 'delete', target }),
  )
  await using t = await testbed({ workflows: [tidy] })
  await t.send('file.created')
  const [old] = await t.approvals()
  target = 'bucket:new'
  await t.approve(old ?? '')
  expect(done).toEqual([])
  const [next] = await t.approvals()
  expect(next).toMatchObject({ items: [{ target }] })
  await t.approve(next ?? '')
  expect([t.run(tidy).status, done]).toEqual(['completed', [target]])
})

test('a delete that had begun is no permit for another target under its key', async () => {
  let target = 'bucket:old'
  const done: string[] = []
  const fails = () => {
    if (target === 'bucket:old') throw new Error('503')
    done.push(target)
  }
  const retry = { attempts: 2, min: '1m', max: '1m' } as const
  const tidy = define('tidy', { on: 'file.created', retry, guard: { deletes: { perRun: 1 } } }, ({ step }) =>
    step.run('remove', fails, { effect: 'delete', target }),
  )
  await using t = await testbed({ workflows: [tidy] })
  await t.send('file.created')
  target = 'bucket:new'
  await t.advance('10m')
  expect(done).toEqual([])
  expect(await t.approvals()).toMatchObject([{ items: [{ target }] }])
})

test('a question for two people of a role counts each once, and nobody without the role', async () => {
  await using t = await testbed({ workflows: [asks] })
  const approval = await ask(t, 0)
  await expect(t.approve(approval, { by: 'eve', roles: ['guests'] })).rejects.toThrow('does not have the role "owners"')
  await t.approve(approval, { by: 'anna' })
  await t.approve(approval, { by: 'anna' })
  expect(t.run(asks).status).toBe('waiting')
  await t.approve(approval, { by: 'ben', reason: 'seen' })
  expect(t.run(asks)).toMatchObject({ output: { approved: true, by: ['anna', 'ben'], reason: 'seen', answer: null } })
})

test('a canceled run takes its question back, and a retry asks it again', async () => {
  await using t = await testbed({ workflows: [retire] })
  const first = await ask(t)
  await t.cancel(t.run(retire))
  expect(await t.approvals()).toEqual([])
  await expect(t.approve(first, { answer: {} })).rejects.toThrow('is withdrawn already')
  await t.retry(t.run(retire))
  const [again] = await t.approvals()
  expect(again?.id).not.toBe(first === '' ? '' : first.id)
  await t.approve(again ?? '', { answer: {} })
  expect(t.run(retire).output).toMatchObject({ deleted: 3 })
})

test('a fork keeps a verdict before its step, and asks again from it', async () => {
  await using t = await testbed({ workflows: [asks] })
  await t.deny(await ask(t, 0))
  const fork = await t.fork(t.run(asks), { from: 'go on' })
  expect(fork.status).toBe('waiting')
  expect(await t.approvals()).toMatchObject([{ why: 'Go on?' }])
})

test('the question and its end are events, and notices', async () => {
  const told: unknown[] = []
  const tell = defineWorkflow({
    id: 'tell',
    on: ['upshot.approval.opened', 'upshot.approval.closed'],
    run: ({ event }) => void told.push([event.type, event.data.why, event.data.status ?? null, event.data.by ?? null]),
  })
  await using t = await testbed({ workflows: [asks, tell] })
  const notices: NoticeOf<'approval.opened' | 'approval.closed'>[] = []
  t.notices.subscribe('approval.opened', (notice) => void notices.push(notice))
  t.notices.subscribe('approval.closed', (notice) => void notices.push(notice))
  await t.deny(await ask(t, 0), { by: 'ben' })
  expect(told).toEqual([
    ['upshot.approval.opened', 'Go on?', null, null],
    ['upshot.approval.closed', 'Go on?', 'denied', ['ben']],
  ])
  expect(notices).toMatchObject([
    { kind: 'approval.opened', step: 'go on', reason: expect.stringContaining('Go on?') },
    { kind: 'approval.closed', step: 'go on', status: 'denied' },
  ])
})

test('a question beside a step at work goes on in the same pass', async () => {
  const both = define('both', { on: 'file.created' }, async ({ step }) => {
    const order: string[] = []
    const verdict = step.approve('ask', { ask: 'Now?' }).then(({ approved }) => order.push(`asked ${approved}`))
    await Promise.all([verdict, step.sleep('nap', '1h').then(() => order.push('slept'))])
    return order
  })
  const report = await crashEverywhere({ workflows: [both] }, async (t) => {
    await t.send('file.created')
    const [approval] = await t.approvals()
    await t.approve(approval ?? '')
    await t.advance('1h')
    return t.run(both).output
  })
  expect(report.value).toEqual(['asked true', 'slept'])
})

test('a question asks once and deletes the same files wherever its run crashes', async () => {
  const report = await crashEverywhere({ workflows: [retire] }, async (t) => {
    const approval = await ask(t)
    await t.approve(approval, { answer: { keep: ['/in/f1.bak'] } })
    return { left: await left(t), status: t.run(retire).status, open: (await t.approvals()).length }
  })
  expect(report.value).toEqual({ left: ['/in/f1.bak'], status: 'completed', open: 0 })
})

test('a no is also for a file whose id is so long that its hash stands in the key of its delete', async () => {
  const stubborn = define('stubborn', { on: 'go' }, async ({ step, files }) => {
    const { items } = await files.snapshot({ service: 'storage_a', path: '/in' })
    await step.approve('ask', { ask: 'Delete it?', deletes: items })
    return files.deleteAll(items)
  })
  await using t = await testbed({ workflows: [stubborn] })
  const { storage } = await t.sandbox()
  await storage('storage_a').put('/in/f1.bak', 'x', { id: 'f'.repeat(600) })
  await t.send('go')
  await t.deny((await t.approvals())[0] ?? '')
  expect(t.run(stubborn)).toMatchObject({ status: 'failed', error: { code: 'denied' } })
  expect(await left(t)).toEqual(['/in/f1.bak'])
})

test('a question that is not valid fails the run, and says what to write', async () => {
  const bad = define('bad', { on: 'file.created', retry: { attempts: 1 } }, ({ step }) =>
    step.approve('ask', { ask: ' ' }),
  )
  await using t = await testbed({ workflows: [bad] })
  await t.send('file.created')
  expect(t.run(bad).error?.message).toBe('Step "ask": `ask` must be a question of 1 to 500 characters.')
})
