import fc from 'fast-check'
import { expect, test } from 'vitest'
import { imagineRun } from '../../src/app/preview/plan-event.ts'
import { PlannedFiles, type ReadFiles } from '../../src/app/preview/planned-files.ts'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import type { RunContext } from '../../src/author/index.ts'
import type { EventRecord } from '../../src/core/incoming/event.ts'
import { DEFAULT_POLICY } from '../../src/core/safety/guard.ts'
import { previewRun } from '../../src/engine/preview/preview-run.ts'
import { eventBody, NOW } from '../support/fixtures.ts'

/** `UPSHOT_PLANS=10000` previews as many as the promise is about. */
const RUNS = Number(process.env.UPSHOT_PLANS ?? 300)

const body = eventBody('evt_1', 'file.created', {})
const at = { createdAt: NOW, receivedAt: NOW, stream: 0, seq: 1 }
const event: EventRecord = { ...at, id: 'evt_1', account: 'default', type: 'file.created', origin: 'webhook', body }
const entry = (id: string) => ({
  service: 'storage_a' as const,
  id,
  type: 'file' as const,
  name: id,
  path: `/${id}`,
  size: 1,
  mimeType: null,
  createdAt: null,
  modifiedAt: null,
})

const ACTS = [
  'write',
  'once',
  'delete',
  'caught',
  'map',
  'dry',
  'files.delete',
  'deleteAll',
  'download',
  'link',
  'send',
  'wait',
  'approve',
  'sleep',
  'read',
  'get',
  'together',
  'invoke',
  'continueAs',
] as const
type Act = (typeof ACTS)[number]

/** Does one act; `done` hears of each effect that happens. */
async function perform(act: Act, name: string, { step, files }: RunContext, done: () => void): Promise<unknown> {
  const write = () => step.run(name, done)
  switch (act) {
    case 'write':
      return write()
    case 'once':
      return step.run(name, done, { once: true, effect: 'read' })
    case 'delete':
      return step.run(name, done, { effect: 'delete', target: name, retry: { attempts: 1 } })
    case 'caught':
      return write().catch(() => write())
    case 'map':
      return step.map(name, [1, 2, 3], String, done, { parallel: 2 })
    case 'dry':
      return step.run(name, done, { dry: () => {} })
    case 'files.delete':
      return files.delete({ service: 'storage_a', id: name })
    case 'deleteAll':
      return files.deleteAll([entry(`${name}.1`), entry(`${name}.2`)])
    case 'download':
      return files.download({ service: 'storage_a', id: name }, { to: '/nowhere' })
    case 'link':
      return files.downloadUrl({ service: 'storage_a', id: name })
    case 'send':
      return step.send(name, 'plan.told', { name })
    case 'wait':
      return step.waitFor(name, { on: 'file.moved', timeout: '1h' })
    case 'approve':
      return step.approve(name, { ask: 'Shall I?', deletes: [entry(name)] })
    case 'sleep':
      return step.sleep(name, '1d')
    case 'read':
      return step.run(name, () => name, { effect: 'read' })
    case 'get':
      return files.get({ service: 'storage_a', id: name })
    case 'together':
      return Promise.race([write(), step.run([name, 1], done), step.sleep([name, 2], '1h')])
    case 'invoke':
      return step.invoke(name, { kind: 'workflow', id: 'none', on: 'x', run: () => 1 } as never, {} as never)
    case 'continueAs':
      return (step.continueAs as (input: unknown) => unknown)({ data: {} }) as Promise<unknown>
    default:
      return act satisfies never
  }
}

test(`nothing happens in ${RUNS} plans of generated workflows`, { timeout: 600_000 }, async () => {
  const effects: string[] = []
  let told = 0
  const plan = fc.array(fc.tuple(fc.constantFrom(...ACTS), fc.boolean()), { minLength: 1, maxLength: 12 })
  const property = fc.asyncProperty(plan, fc.boolean(), async (acts, borrows) => {
    const workflow = defineWorkflow({
      id: 'generated',
      on: 'file.created',
      run: async (context) => {
        const begun: Promise<unknown>[] = []
        for (const [index, [act, isAwaited]] of acts.entries()) {
          const done = perform(act, `${act}-${index}`, context, () => void effects.push(act))
          if (isAwaited) await done
          else begun.push(done.catch(() => {}))
        }
        await Promise.all(begun)
      },
    })
    const readFiles: ReadFiles = async (_account, operation, given) => {
      if (!['list', 'listAnew', 'find', 'get', 'hash'].includes(operation)) effects.push(operation)
      return entry((given as { id?: string }).id ?? 'found') as never
    }
    const files = new PlannedFiles(readFiles, { isNew: true })
    const { effects: found } = await previewRun(
      {
        reads: { listDeletes: async () => [], listRunEvents: async () => [], readOutput: async () => 'null' },
        guard: DEFAULT_POLICY,
        files,
        filesFor: files.filesFor,
        borrow: async () => (borrows ? { output: 'null', run: 'run_1' } : null),
      },
      workflow,
      { claim: imagineRun(event, 'generated', NOW), steps: [] },
      { readsLive: true, plans: { use: [], borrows } },
    )
    told += found.length
    expect(effects).toEqual([])
  })
  await fc.assert(property, { numRuns: RUNS })
  // The plans do tell of effects: none of them is empty by mistake.
  expect(told).toBeGreaterThan(RUNS)
})
