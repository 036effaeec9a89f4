import { createNoticeBus } from '../../src/notices/notice-bus.ts'
import { awaitRuns } from '../support/await-runs.ts'
import { openPlace } from '../support/open-place.ts'
import { doom, type Moment } from './doom.ts'
import { createLimitedWorker } from './limited-scenario.ts'

const [place = '', folder = '', moment = 'asked', at = '0'] = process.argv.slice(2)

// One connection in this thread, so that the calls have the same order every time.
const store = await openPlace(JSON.parse(place))
const notices = createNoticeBus()
const worker = createLimitedWorker(folder, 'first', doom(store, moment as Moment, Number(at)), notices)
await worker.start()
await awaitRuns({ store, notices }, (runs) => runs.every((run) => run.finishedAt !== null))
await worker.stop()
await store.close()
