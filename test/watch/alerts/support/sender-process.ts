import { join } from 'node:path'
import type { AlertKind } from '../../../../src/core/alerts/alert-rule.ts'
import { ManualClock } from '../../../../src/core/time.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/open-sqlite-store.ts'
import { openWatch } from './open-alerts.ts'
import { RULE_CASES, ruleOf } from './rule-cases.ts'

/** A scheduler that looks once at a moment, and sends what is due to a hook. */
const [folder = '', key = '', url = '', at = ''] = process.argv.slice(2)
const store = openSqliteStore({ file: join(folder, 'upshot.db'), vaultKey: Buffer.from(key, 'hex') })
const rules = (Object.keys(RULE_CASES) as AlertKind[]).map(ruleOf)
const clock = new ManualClock(Number(at))
const channels = { ops: { kind: 'slack', url } } as const
await openWatch(store, rules, { channels, clock, disk: { use: 0.95 } }).watch.look()
