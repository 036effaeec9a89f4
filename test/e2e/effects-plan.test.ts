import { expect, test } from 'vitest'
import { HandLedger, removeFiles } from '../../src/app/service/remove-files.ts'
import { createFilesClient } from '../../src/files/index.ts'
import { runHere } from '../cli/support/run-here.ts'
import { haveStatus } from '../support/await-runs.ts'
import { openStaging } from './support/staging.ts'

const TIDY = `async ({ event, files, step, log }) => {
  const { items } = await files.snapshot({ service: 'storage_a', path: '/in' })
  log.info('looked')
  for (const file of items) await files.delete(file)
  await step.run('tell', () => fetch(U, { method: 'POST' }).then(() => 'told'), { dry: () => 'not told' })
  await fetch(U + 'beside').catch(() => {})
  await step.send('pass on', 'tidied', { gone: items.length })
  return { gone: items.length }
}`

test('an app that only plans takes a signed webhook, only reads, and says what its run would do', async () => {
  const staging = await openStaging(TIDY)
  const before = staging.listFiles()
  const { app, heard, notices, deliver, runs } = await staging.start('plan')
  const told = new Promise((resolve) => notices.subscribe('run.planned', resolve))
  expect(await deliver('evt_1')).toMatchObject({ status: 200 })
  const [run] = await runs(haveStatus({ planned: 1 }))
  expect(run).toMatchObject({
    workflow: 'tidy',
    eventId: 'evt_1',
    error: null,
    reason: 'would complete: 2 deletes, 2 other effects, 1 refused outside its steps; nothing was done',
  })
  const plan = JSON.parse(run?.output ?? '')
  expect(plan).toMatchObject({
    end: { kind: 'completed', output: '{"gone":2}' },
    effects: [
      { class: 'delete', outcome: 'deleted', source: 'derived', asked: { bytes: 5 } },
      { class: 'delete', outcome: 'deleted' },
      { class: 'write', step: 'tell', source: 'declared' },
      { class: 'send', target: 'tidied', body: '{"gone":2}' },
    ],
    undeclared: [{ call: 'fetch GET' }],
    log: [{ message: 'looked' }],
  })
  expect(staging.listFiles()).toEqual(before)
  expect(staging.listActs()).toEqual([])
  expect(staging.canary.reached).toEqual([])
  // Nothing in the database looks like a delete, or like an event of the run.
  expect(await app.store.listEffects({ limit: 9 })).toEqual([])
  expect(await app.store.listSteps(run?.id ?? '')).toEqual([])
  expect(await app.store.listEvents({ limit: 9 })).toHaveLength(1)
  expect(heard).toContainEqual({ kind: 'effects.mode', mode: 'plan', isSwitched: true })
  // The row of a run is there before the notice of its end.
  await told
  expect(heard.map(({ kind }) => kind)).not.toContain('run.completed')
})

test('a run that was made while effects were planned is planned even by an app that acts again', async () => {
  const staging = await openStaging(`async ({ step }) => step.run('tell', async () => (await fetch(U)).status)`)
  const first = await staging.start('plan')
  await first.app.store.pauseWorkflow('tidy', first.app.clock.now())
  await first.deliver('evt_1')
  await first.runs(([run]) => run !== undefined)
  await first.app.stop()

  const second = await staging.start('live')
  expect(second.heard).toContainEqual({ kind: 'effects.mode', mode: 'live', isSwitched: true })
  await second.app.store.resumeWorkflow('tidy')
  const [planned] = await second.runs(haveStatus({ planned: 1 }))
  expect(planned).toMatchObject({ reason: expect.stringContaining('open at step "tell"'), eventId: 'evt_1' })
  expect(staging.canary.reached).toEqual([])
  await second.deliver('evt_2')
  await second.runs(haveStatus({ planned: 1, completed: 1 }))
  expect(staging.canary.reached).toEqual(['GET /'])
  const switches = await second.app.store.listActions({ action: 'effects.switch', limit: 9 })
  expect(switches.map(({ parameters }) => parameters)).toEqual([
    { before: 'plan', to: 'live' },
    { before: 'live', to: 'plan' },
  ])
})

test('an app that would act beside one that plans does not start, nor the other way round', async () => {
  const staging = await openStaging('async () => null')
  const { app } = await staging.start('plan')
  await expect(staging.start('live')).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining(`process ${process.pid} (role all) works on this database with plan`),
  })
  await app.stop()
  const live = await staging.start('live')
  await expect(staging.start('plan')).rejects.toMatchObject({ code: 'conflict' })
  expect(await live.app.store.listActions({ action: 'effects.switch', limit: 9 })).toHaveLength(2)
})

test('a person deletes nothing where nothing acts', async () => {
  const staging = await openStaging('async () => null')
  const before = staging.listFiles()
  const { app, config } = await staging.start('plan')
  const ledger = new HandLedger(app.store, { actor: 'ada', reason: null, account: 'default' }, app.clock)
  const [file] = staging.sandbox.storage('storage_a').list()
  const client = createFilesClient({ baseUrl: staging.sandbox.url, apiKey: staging.apiKey, plan: 'enterprise' })
  const seen = await client.get({ service: 'storage_a', id: file?.id ?? '' })
  const quiet = { signal: new AbortController().signal, onDone: () => {} }
  const [removal] = await removeFiles({ files: client, ledger }, [seen], quiet)
  expect(removal).toMatchObject({
    outcome: 'stopped',
    error: 'all effects are stopped: with UPSHOT_EFFECTS=plan nothing acts',
  })
  expect(staging.listFiles()).toEqual(before)
  expect(config.effects).toBe('plan')
})

test('status, doctor and the commands about runs and effects say that nothing acts', async () => {
  const staging = await openStaging(TIDY)
  const { deliver, runs } = await staging.start('plan')
  const ask = async (...args: string[]) =>
    (await runHere(staging.dataDir, args, { env: { UPSHOT_EFFECTS: 'live' } })).stdout
  expect(await ask('status')).toContain('NOTHING ACTS: runs are only planned (UPSHOT_EFFECTS=plan)')
  const doctor = await ask('doctor')
  expect(doctor).toMatch(/NOTHING ACTS since 2\S+: runs are only planned/)
  expect(doctor).toContain('UPSHOT_EFFECTS is live here, but the app last started with plan')
  await deliver('evt_1')
  const [run] = await runs(haveStatus({ planned: 1 }))
  const shown = await ask('runs', 'show', run?.id ?? '')
  expect(shown).toMatch(/status +planned/)
  expect(shown).toContain('Planned only: nothing of this was done.')
  expect(shown).toMatch(/DELETE +files\.delete\[storage_a:.*\/in\/a\.txt +5 B +deleted/)
  expect(shown).toMatch(/info +looked/)
  expect(await ask('runs', 'list', '--status', 'planned')).toContain('2 deletes')
  const effects = await runHere(staging.dataDir, ['effects', 'list'])
  expect(effects.stdout + effects.stderr).toContain('upshot runs list --status planned')
  expect(await ask('runs', 'list', '--status', 'completed', '--json')).toContain('"data":[]')
})
