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

/** The lines of a tree without ids, moments and notes; two spaces a level. */
function outline(stdout: string): string[] {
  const lines = stdout.trimEnd().split('\n')
  return lines.map((line) => {
    const [stem = ''] = /^[│├└─ ]*/.exec(line) ?? []
    const text = line
      .slice(stem.length)
      .replace(MOMENTS, '')
      .replace(/\b(dlv|evt|run)_\w+/g, '$1')
    return '  '.repeat(stem.length / 3) + text.replace(/ \([^()]*\)$/, '')
  })
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

  const target = `storage_b:${id}`
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
  const { json, exit } = await runHere(dataDir, ['events', 'show', eventId ?? '', '--trace', '--json'])
  expect(exit).toBe(0)
  const [, sweeping] = json.data.nodes
  expect(sweeping).toMatchObject({
    parent: eventId,
    steps: [{ key: `files.get[${target}]` }, { key: 'tell' }, { key: `files.delete[${target}]` }],
  })
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
  const { stdout } = await runHere(dataDir, ['events', 'show', event, '--trace'])
  const failed = ['step pack write completed', 'step send write failed', '  attempt 1 failed']
  const followed = ['run run ship (onFailure) waiting', '  sleep wait for a truck waiting']
  expect(outline(stdout)).toEqual([
    'event evt order.placed',
    '  delivery dlv sandbox accepted',
    '  delivery dlv sandbox duplicate',
    '  run run ship failed',
    ...[...failed, ...followed, 'run run ship failed'].map((line) => `    ${line}`),
    ...[...failed, ...followed].map((line) => `      ${line}`),
  ])
  expect(stdout).toMatch(/\(follows the failure of run_\w+; sleeps in step "wait for a truck", until /)
  expect(stdout).toMatch(/sleep wait for a truck waiting .*\(until /)
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
  const { stdout } = await runHere(dataDir, ['events', 'show', event, '--trace'])
  expect(outline(stdout)).toEqual([
    'event evt order.placed',
    '  delivery dlv sandbox accepted',
    '  run run ship completed',
    '    invoke ask write completed',
    '      run run bill completed',
    '    invoke ask again write completed',
    '      run run bill completed',
    '    send tell order.billed write completed',
    '      event evt order.billed',
    '        run run file completed',
    '    wait hear order.billed with order 7 completed',
    '    wait hear more order.billed with order 8 completed',
  ])
  expect(stdout).toMatch(/wait hear order.* \(evt_\w+ arrived\)\n.*wait hear more .* \(no event arrived in time\)/)
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
    sent.map(
      async ({ event }: { event: string }) => (await runHere(dataDir, ['events', 'show', event, '--trace'])).stdout,
    ),
  )
  expect(trees.map(outline)).toContainEqual([
    'event evt order.placed',
    '  delivery dlv sandbox accepted',
    '  run run gather skipped',
    '    run run gather completed',
  ])
  expect(trees.join('')).toContain('(1 folded into it)')
  const shown = await Promise.all(sent.map(({ event }: { event: string }) => upshot('events', 'show', event)))
  const folded = shown.map(({ json }) => json.data).find(({ runs }) => runs[0].foldedInto !== null)
  expect(folded.absorbers).toMatchObject([{ id: folded.runs[0].foldedInto, status: 'completed' }])
  const { stdout } = await runHere(dataDir, ['events', 'show', folded.id])
  expect(stdout).toMatch(/Folded into\n.*RUN.*\n.*run_\w+ +gather +completed/)
})
