import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineEvent } from '../../../../src/author/define-event.ts'
import { defineWorkflow } from '../../../../src/author/define-workflow.ts'
import { callable } from '../../../../src/author/trigger.ts'
import { startTestApp } from '../../../support/test-app.ts'
import { runHere } from '../../support/run-here.ts'

const storage = z.enum(['storage_a', 'storage_b', 'storage_c'])
const fileCreated = defineEvent('file.created', {
  data: z.looseObject({ service: storage, file: z.looseObject({ id: z.string(), path: z.string() }) }),
})

/** A duration or a time. */
const MOMENTS = / (\d+ ms|\d+\.\d s|\d+ min \d+ s|\d\d:\d\d:\d\d|\d{4}-\d\d-\d\d \d\d:\d\d)/g

interface Node {
  kind: string
  name: string
  about: string | null
  status: string | null
  effect: string | null
  note: string | null
  startedAt: string | null
  children: Node[]
}

/** A node as `kind about status`, followed by its children. */
function outline({ kind, about, status, children }: Node): unknown {
  const line = [kind, about, status].filter((part) => part !== null).join(' ')
  return children.length === 0 ? line : [line, ...children.map(outline)]
}

test('a trace shows a dropped file, its event and run, the failed attempt and the calls', async () => {
  const sweep = defineWorkflow({
    id: 'sweep',
    on: fileCreated,
    where: ({ data }) => data.file.path.endsWith('.bin'),
    async run({ event, files, step }) {
      const ref = { service: event.data.service, id: event.data.file.id }
      const busy = ({ attempt }: { attempt: number }) => {
        if (attempt === 1) throw new Error('the line was busy')
      }
      await files.get(ref)
      await step.run('tell', busy, { retry: { attempts: 2, min: 0, max: 0 } })
      return files.delete(ref)
    },
  })
  const { sandbox, dataDir, hear, app } = await startTestApp({ workflows: [sweep] })
  const { id } = await sandbox.storage('storage_b').put('/in/old.bin', 'x')
  const { run } = await hear('run.completed', ({ workflow }) => workflow === 'sweep')
  const { eventId } = (await app.store.findRun(run)) ?? {}

  const { json, exit } = await runHere(dataDir, ['events', 'show', eventId ?? '', '--trace', '--json'])
  expect(exit).toBe(0)
  const tree: Node = json.data
  expect(tree).toMatchObject({ kind: 'subject', name: 'file storage_b:/in/old.bin' })
  const target = `storage_b:${id}`
  expect(outline(tree)).toEqual([
    'subject',
    [
      'event file.created',
      'delivery sandbox accepted',
      [
        'run sweep completed',
        `call ${target} completed`,
        ['step completed', 'attempt failed'],
        `call ${target} completed`,
      ],
    ],
  ])
  const steps = tree.children[0]?.children[1]?.children
  expect(steps).toMatchObject([
    { name: 'files.get', effect: 'read' },
    { name: 'tell', effect: 'write', children: [{ name: '1', note: 'Error: the line was busy' }] },
    { name: 'files.delete', effect: 'delete', note: 'deleted', startedAt: expect.stringMatching(/Z$/) },
  ])

  const told = await runHere(dataDir, ['events', 'show', eventId ?? '', '--trace'])
  expect(told.stdout.split('\n').map((line) => line.replace(MOMENTS, ''))).toEqual([
    'file storage_b:/in/old.bin',
    `└─ event ${eventId} file.created`,
    expect.stringMatching(/^ {3}├─ delivery dlv_\w+ sandbox accepted$/),
    `   └─ run ${run} sweep completed`,
    `      ├─ call files.get ${target} completed`,
    '      ├─ step tell write completed',
    '      │  └─ attempt 1 failed (Error: the line was busy)',
    `      └─ call files.delete ${target} delete completed (deleted)`,
    '',
  ])
})

test('a trace shows repeated deliveries first, and forks and failure runs below their origin', async () => {
  const ship = defineWorkflow({
    id: 'ship',
    on: 'order.placed',
    async run({ step }) {
      await step.run('pack', () => 'packed')
      await step.run('send', () => Promise.reject(new Error('no truck')), { retry: { attempts: 1 } })
    },
    onFailure: async ({ step }) => void (await step.sleep('wait for a truck', '1d')),
  })
  const { dataDir, hear } = await startTestApp({ workflows: [ship] })
  const upshot = (...args: string[]) => runHere(dataDir, [...args, '--json'])
  const sent = await upshot('trigger', 'order.placed', '--duplicate')
  const [{ event, runs }] = sent.json.data.deliveries
  const { run } = await hear('run.parked', ({ workflow }) => workflow === 'ship')
  await upshot('runs', 'fork', runs[0], '--from-step', 'send')
  await hear('run.parked', (notice) => notice.workflow === 'ship' && notice.run !== run)
  const { json } = await upshot('events', 'show', event, '--trace')
  expect(outline(json.data)).toEqual([
    'event order.placed',
    'delivery sandbox accepted',
    'delivery sandbox duplicate',
    [
      'run ship failed',
      'step completed',
      ['step failed', 'attempt failed'],
      ['run ship (onFailure) waiting', 'sleep waiting'],
      [
        'run ship failed',
        'step completed',
        ['step failed', 'attempt failed'],
        ['run ship (onFailure) waiting', 'sleep waiting'],
      ],
    ],
  ])
  const [followUp] = json.data.children[2].children.slice(2)
  expect(followUp.note).toMatch(/^follows the failure of run_\w+; sleeps in step "wait for a truck", until /)
  expect(followUp.children[0].note).toMatch(/^until /)
})

test('a trace shows the events that a run sent, the runs it invoked, and the result of its waits', async () => {
  const billed = defineEvent('order.billed', {
    data: z.object({ order: z.number() }),
    keys: { order: ({ order }) => order },
  })
  const bill = defineWorkflow({ id: 'bill', on: callable(z.number()), run: ({ input }) => input * 2 })
  const file = defineWorkflow({ id: 'file', on: billed, run: ({ event }) => event.data.order })
  const ship = defineWorkflow({
    id: 'ship',
    on: 'order.placed',
    async run({ step }) {
      await step.invoke('ask', bill, 7)
      await step.invoke('ask again', bill, 8)
      await step.send('tell', billed, { order: 7 })
      await step.waitFor('hear', { on: billed, where: { order: 7 }, since: 'run', timeout: '1d' })
      await step.waitFor('hear more', { on: billed, where: { order: 8 }, timeout: '1ms' })
    },
  })
  const { dataDir, hear } = await startTestApp({ workflows: [ship, bill, file] })
  const upshot = (...args: string[]) => runHere(dataDir, [...args, '--json'])
  const [{ event }] = (await upshot('trigger', 'order.placed')).json.data.deliveries
  await hear('run.completed', ({ workflow }) => workflow === 'ship')
  await hear('run.completed', ({ workflow }) => workflow === 'file')
  const { data } = (await upshot('events', 'show', event, '--trace')).json
  expect(outline(data)).toEqual([
    'event order.placed',
    'delivery sandbox accepted',
    [
      'run ship completed',
      ['invoke completed', 'run bill completed'],
      ['invoke completed', 'run bill completed'],
      ['send order.billed completed', ['event order.billed', 'run file completed']],
      'wait order.billed with order 7 completed',
      'wait order.billed with order 8 completed',
    ],
  ])
  const [, , sent, heard, missed] = data.children[1].children
  expect([heard.note, missed.note]).toEqual([`${sent.children[0].name} arrived`, 'no event arrived in time'])
})

test('a trace leads from a folded run to the run that absorbed it', async () => {
  const gather = defineWorkflow({
    id: 'gather',
    on: 'order.placed',
    batch: { size: 2, wait: '1d' },
    run: ({ events }) => events.length,
  })
  const { dataDir, hear } = await startTestApp({ workflows: [gather] })
  const upshot = (...args: string[]) => runHere(dataDir, [...args, '--json'])
  const sent = (await upshot('trigger', 'order.placed', '--count', '2')).json.data.deliveries
  await hear('run.completed', ({ workflow }) => workflow === 'gather')
  const trees = await Promise.all(
    sent.map(async ({ event }: { event: string }) => (await upshot('events', 'show', event, '--trace')).json.data),
  )
  expect(trees.map(outline)).toContainEqual([
    'event order.placed',
    'delivery sandbox accepted',
    ['run gather skipped', 'run gather completed'],
  ])
  const runs = trees.map(({ children }) => children[1])
  expect(runs.map(({ note }) => note)).toContain('1 folded into it')
})

test('events show prints an event whose body is pruned', async () => {
  const { dataDir, app } = await startTestApp()
  const upshot = (...args: string[]) => runHere(dataDir, [...args, '--json'])
  const [{ event }] = (await upshot('trigger', 'file.created')).json.data.deliveries
  const before = Date.now() + 60_000
  await app.store.prune({ kind: 'payloads', before, limit: 100, after: null })
  expect((await upshot('events', 'show', event)).json.data).toMatchObject({ id: event, data: null, isPruned: true })
  expect((await runHere(dataDir, ['events', 'show', event])).stdout).toContain('(pruned)')
  expect((await upshot('events', 'show', event, '--trace')).json.data).toMatchObject({ kind: 'event', name: event })
})
