import { expect, test } from 'vitest'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { planEndpoint, planPin } from '../../src/core/incoming/endpoint.ts'
import { SCHEME_PRESETS, type SchemePreset } from '../../src/core/incoming/signature.ts'
import type { NoticeOf } from '../../src/core/notices.ts'
import { solveCaptures } from '../../src/core/solver/solve-scheme.ts'
import { systemClock } from '../../src/core/time.ts'
import { startTestApp } from '../support/test-app.ts'

const look = defineWorkflow({ id: 'look', on: 'file.created', run: ({ event }) => event.id })

test.each(Object.keys(SCHEME_PRESETS) as SchemePreset[])(
  'the scheme %s of an unknown service is found from captures, and no event is lost meanwhile',
  async (preset) => {
    const { app, sandbox, urls, hear } = await startTestApp({ workflows: [look] })
    const scheme = { ...SCHEME_PRESETS[preset], header: 'X-Their-Signature' }
    // An account of its own, or the event would be a duplicate of the first endpoint's.
    const planned = planEndpoint({ name: 'unknown', account: 'another', scheme }, systemClock.now())
    const endpoint = { ...planned, scheme: SCHEME_PRESETS.hex, status: 'learning' as const }
    await app.store.addEndpoint(endpoint)
    const secret = endpoint.secrets[0]?.value ?? ''
    await sandbox.webhooks.add({
      url: `${urls.receiver}/hooks/${endpoint.path}`,
      events: ['file.created'],
      secret,
      scheme,
    })
    await sandbox.storage('storage_a').put('/in/x.txt', 'x')
    await hear('delivery.received', ({ verdict }) => verdict === 'learning')
    const runsOf = async () => (await app.store.listRuns({ limit: 100 })).length
    const runsBefore = await runsOf()

    const solution = solveCaptures(await app.store.listCaptures(endpoint.id), { secrets: [secret] })
    expect(solution).toMatchObject({ kind: 'match', preset, scheme: { header: 'x-their-signature' } })
    if (solution.kind !== 'match') return
    await app.store.updateEndpoint(planPin(endpoint, solution.scheme))
    const event = sandbox.events
      .list({ type: 'file.created' })
      .find(({ data }) => JSON.stringify(data).includes('/in/x.txt'))
    // Nobody sends it again: the app takes in what was captured.
    const isTaken = (notice: NoticeOf<'delivery.received'>) =>
      notice.endpoint === endpoint.id && notice.event === event?.id && notice.verdict === 'accepted'
    expect(await hear('delivery.received', isTaken)).toMatchObject({ runs: 1 })
    expect(await runsOf()).toBeGreaterThan(runsBefore)
  },
)
