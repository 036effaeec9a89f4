import { existsSync, statSync } from 'node:fs'
import type { Config } from '../../../project/config/load-config.ts'
import { databaseFile } from '../../../project/data-dir/data-files.ts'
import { shortenLog, verify } from '../../../project/data-dir/maintain-database.ts'
import { formatBytes } from '../../terminal/format-value.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** Reading a larger one takes minutes; then "upshot db verify" is for it. */
const LARGEST_TO_READ_BYTES = 1_000_000_000
/**
 * The log is taken into the database from 4 MB on; far more than that means that something keeps it
 * from being.
 */
const LONG_LOG_BYTES = 64_000_000

/** Whether the database is sound, and its log short. */
export function checkDatabase(config: Pick<Config, 'dataDir'>): Finding[] {
  const file = databaseFile(config)
  if (!existsSync(file)) return [ok('database', 'it will be made at the first start')]
  return [checkContent(config, file), checkLog(config, `${file}-wal`)]
}

function checkContent(config: Pick<Config, 'dataDir'>, file: string): Finding {
  const bytes = statSync(file).size
  if (bytes > LARGEST_TO_READ_BYTES) {
    return warn('database', `${formatBytes(bytes)}: not read, as that takes minutes`, { fix: 'upshot db verify' })
  }
  try {
    const { passed, checks, rows } = verify(config)
    if (passed) return ok('database', `sound: ${formatBytes(bytes)}, ${rows.event} events, ${rows.run} runs`)
    const faults = checks.filter((check) => !check.passed).map(({ name, found }) => `${name}: ${found}`)
    return fail('database', faults.join('; '), {
      fix: 'Keep a copy of the data directory, then see "upshot db verify".',
    })
  } catch (error) {
    return fail('database', error instanceof Error ? error.message : String(error), {
      fix: 'Restore a backup: stop the app and put it in the place of upshot.db.',
    })
  }
}

function checkLog(config: Pick<Config, 'dataDir'>, log: string): Finding {
  const bytes = existsSync(log) ? statSync(log).size : 0
  const found = `${formatBytes(bytes)} are not taken into the database yet`
  if (bytes <= LONG_LOG_BYTES) return ok('write-ahead log', found)
  return warn('write-ahead log', found, {
    fix: 'End what reads the database for long, or let "upshot doctor --fix" take them in.',
    repair: { will: `take ${formatBytes(bytes)} of the log into the database`, perform: () => shortenLog(config) },
  })
}
