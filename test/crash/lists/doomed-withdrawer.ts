import { join } from 'node:path'
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'
import { doom, type Moment } from '../doom.ts'
import { endAll } from './withdrawal-scenario.ts'

const [dataDir = '', held = '{}', moment = 'asked', at = '0'] = process.argv.slice(2)

const store = openSqliteStore({ file: join(dataDir, 'upshot.db'), vaultKey: Buffer.alloc(32) })
await endAll(doom(store, moment as Moment, Number(at)), JSON.parse(held))
await store.close()
