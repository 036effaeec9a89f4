import { join } from 'node:path'
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'
import { doom, type Moment } from '../doom.ts'
import { decideAll } from './decision-scenario.ts'

const [dataDir = '', moment = 'asked', at = '0'] = process.argv.slice(2)

const store = openSqliteStore({ file: join(dataDir, 'upshot.db'), vaultKey: Buffer.alloc(32) })
await decideAll(doom(store, moment as Moment, Number(at)))
await store.close()
