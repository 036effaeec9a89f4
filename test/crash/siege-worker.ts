import { planRoutes } from '../../src/author/read-workflow.ts'
import { DEFAULT_POLICY } from '../../src/core/safety/guard.ts'
import { systemClock } from '../../src/core/time.ts'
import { Worker } from '../../src/engine/worker.ts'
import { createFilesClient } from '../../src/files/index.ts'
import { wrapCalls } from '../../src/files/wrap-calls.ts'
import { createNoticeBus } from '../../src/notices/notice-bus.ts'
import { openPlace } from '../support/open-place.ts'
import { doom, type Moment } from './doom.ts'
import { hunt, siegeGuard } from './siege-scenario.ts'

const [place = '', baseUrl = '', apiKey = '', perDay = '0', moment = 'asked', at = '0'] = process.argv.slice(2)

const store = await openPlace(JSON.parse(place))
const notices = createNoticeBus()
const client = createFilesClient({ baseUrl, apiKey, plan: 1_000_000, retry: { base: '2ms', attempts: 2 } })
const worker = new Worker({
  store: doom(store, moment as Moment, Number(at)),
  clock: systemClock,
  random: Math.random,
  publish: notices.publish,
  findWorkflow: (id) => (id === hunt.id ? hunt : undefined),
  filesFor: (_account, around) =>
    wrapCalls(
      () => client,
      around,
      () => {},
    ),
  routes: () => planRoutes(hunt),
  guard: { ...DEFAULT_POLICY, limits: siegeGuard(Number(perDay)) },
  slots: 4,
  drainMs: 1_000,
  beatMs: 100,
  pollMs: 50,
})
process.on('disconnect', () => process.exit(0))
notices.subscribe('*', ({ kind }) => process.send?.(kind))
await worker.start()
process.send?.('started')
