import { join } from 'node:path'
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'
import { doom, type Moment } from '../doom.ts'
import { workAll } from './list-scenario.ts'

const [dataDir = '', leases = '[]', moment = 'asked', at = '0'] = process.argv.slice(2)

const store = openSqliteStore({ file: join(dataDir, 'upshot.db'), vaultKey: Buffer.alloc(32) })
const [free, held] = JSON.parse(leases)
await workAll(doom(store, moment as Moment, Number(at)), free, held)
await store.close()
