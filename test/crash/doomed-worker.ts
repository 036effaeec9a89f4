import { join } from 'node:path'
import { createNoticeBus } from '../../src/notices/notice-bus.ts'
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts'
import { awaitRuns } from '../support/await-runs.ts'
import { doom, type Moment } from './doom.ts'
import { createLimitedWorker } from './limited-scenario.ts'

const [dataDir = '', moment = 'asked', at = '0'] = process.argv.slice(2)

// One connection in this thread, so that the calls have the same order every time.
const store = openSqliteStore({ file: join(dataDir, 'upshot.db'), vaultKey: Buffer.alloc(32) })
const notices = createNoticeBus()
const worker = createLimitedWorker(dataDir, 'first', doom(store, moment as Moment, Number(at)), notices)
await worker.start()
await awaitRuns({ store, notices }, (runs) => runs.every((run) => run.finishedAt !== null))
await worker.stop()
await store.close()
