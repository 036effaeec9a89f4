import { existsSync, statSync } from 'node:fs'
import { UpshotError } from '../../../core/errors.ts'
import type { DatabaseConfig } from '../../../project/config/database-config.ts'
import type { Config } from '../../../project/config/load-config.ts'
import { databaseFile } from '../../../project/data-dir/data-files.ts'
import { inspectDatabase, inspectReads, shortenLog, verify } from '../../../project/data-dir/maintain-database.ts'
import { commandClock } from '../../command-clock.ts'
import type { Project } from '../../open/open-project.ts'
import { formatBytes } from '../../terminal/format-value.ts'
import { describeProblem } from '../../terminal/problem.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

type ServerFacts = Awaited<ReturnType<typeof inspectDatabase>>

/** A larger database takes minutes to read, so it is left to "upshot db verify". */
const MAX_BYTES_TO_READ = 1_000_000_000
/** The log is copied into the database from 4 MB on; far more means that something blocks that. */
const LONG_LOG_BYTES = 64_000_000

/** Checks the content of the database and the size of its write-ahead log. */
export async function checkDatabase(
  project: Pick<Project, 'withStore'>,
  config: Pick<Config, 'dataDir' | 'secretKey' | 'database'>,
): Promise<Finding[]> {
  const { database } = config
  if (database) return checkServer(project, { ...config, database })
  const file = databaseFile(config)
  if (!existsSync(file)) return [ok('database', 'it will be created at the first start')]
  return [await checkContent(config, file), checkLog(config, `${file}-wal`)]
}

type OnServer = Pick<Config, 'dataDir' | 'secretKey'> & { database: DatabaseConfig }

/** Asks the server, then opens the database, which checks version, schema and rights. */
async function checkServer({ withStore }: Pick<Project, 'withStore'>, config: OnServer): Promise<Finding[]> {
  const { hosts, schema } = config.database
  const [{ host, port, database } = { host: '', port: 0, database: '' }] = hosts
  try {
    const facts = await inspectDatabase(config)
    await withStore((store) => store.countOpenRuns(commandClock.now()))
    const answers = ok('database', `PostgreSQL answers: ${database} on ${host}:${port} (schema ${schema})`)
    return [answers, ...judgeServer(facts), ...(await checkReads(config))]
  } catch (error) {
    const problem = describeProblem(error)
    return [fail('database', problem?.message ?? 'unknown error', { fix: problem?.fix ?? '' })]
  }
}

/** The standby that answers lists, where one is set. Until it can, the primary does. */
async function checkReads(config: OnServer): Promise<Finding[]> {
  const [{ host, port } = { host: '', port: 0 }] = config.database.readHosts ?? []
  try {
    const ms = await inspectReads(config)
    return ms === null ? [] : [ok('lists', `a standby answers them: ${host}:${port}, ${Math.round(ms)} ms behind`)]
  } catch (error) {
    const { message = 'unknown error', fix = '' } = describeProblem(error) ?? {}
    const { code = null, details = null } = error instanceof UpshotError ? error : {}
    if (code === 'invalid_config') return [fail('lists', message, { fix })]
    // The advice about a server is for the primary.
    const advice =
      details?.reason === undefined ? fix : 'Look at that server, and the user in UPSHOT_DATABASE_READ_URL.'
    return [warn('lists', `the primary answers them. ${message}`, { fix: advice })]
  }
}

/** A clock further off than this misleads people; milliseconds. */
const MAX_OFFSET_MS = 5_000
/** Share of the connections above which a restart of the processes may find none. */
const MAX_CONNECTIONS = 0.8
/** An hour: vacuum removes no row that was deleted since. */
const LONG_TRANSACTION_S = 3_600

/** Findings about a server of PostgreSQL. */
export function judgeServer(facts: ServerFacts): Finding[] {
  const { isDurable, isReplicated, connections, oldestTransactionS, clockOffsetMs } = facts
  const { used, most } = connections
  const seconds = (Math.abs(clockOffsetMs) / 1_000).toFixed(1)
  return [
    judgeWrites(facts),
    isDurable
      ? ok('durability', 'the server answers a commit when it is on its disk')
      : fail('durability', 'fsync or full_page_writes is off: a power cut loses events', {
          fix: 'Set both to on in postgresql.conf.',
        }),
    isReplicated
      ? ok('replication', 'a standby has each commit before it is answered')
      : warn('replication', 'no standby has each commit: a failover may lose events', {
          fix: 'Name standbys in synchronous_standby_names, such as "ANY 1 (*)".',
        }),
    used <= most * MAX_CONNECTIONS
      ? ok('connections', `${used} of ${most} are in use`)
      : warn('connections', `${used} of ${most} are in use`, {
          fix: 'Raise max_connections, or lower UPSHOT_DATABASE_CONNECTIONS.',
        }),
    oldestTransactionS < LONG_TRANSACTION_S
      ? ok('transactions', 'none of our user is older than an hour')
      : warn('transactions', `one is ${Math.round(oldestTransactionS / 60)} min old, so vacuum removes no row`, {
          fix: 'Find it in pg_stat_activity, and end it: a forgotten prompt, or a report.',
        }),
    Math.abs(clockOffsetMs) <= MAX_OFFSET_MS
      ? ok('clock of the server', `${seconds} s from this machine's`)
      : warn('clock of the server', `${seconds} s from this machine's`, { fix: 'Synchronize both with NTP.' }),
  ]
}

function judgeWrites({ takesWrites, mayWrite }: ServerFacts): Finding {
  if (!takesWrites) {
    return fail('writes', 'the database is read-only: a standby, or by default_transaction_read_only', {
      fix: 'Name all hosts in UPSHOT_DATABASE_URL, or let the database take writes.',
    })
  }
  if (mayWrite) return ok('writes', 'the database takes them, and this user may write')
  return fail('writes', 'this user may only read, so no app can start with it', {
    fix: 'Name the user of the app in UPSHOT_DATABASE_URL, or grant this one its rights.',
  })
}

async function checkContent(config: Pick<Config, 'dataDir' | 'secretKey'>, file: string): Promise<Finding> {
  const bytes = statSync(file).size
  if (bytes > MAX_BYTES_TO_READ) {
    return warn('database', `${formatBytes(bytes)}: not checked, because that takes minutes`, {
      fix: 'Run "upshot db verify".',
    })
  }
  try {
    const { passed, checks, rows } = await verify(config)
    if (passed) return ok('database', `sound: ${formatBytes(bytes)}, ${rows.event} events, ${rows.run} runs`)
    const faults = checks.filter((check) => !check.passed).map(({ name, found }) => `${name}: ${found}`)
    return fail('database', faults.join('; '), {
      fix: 'Copy the data directory, then run "upshot db verify" for the details.',
    })
  } catch (error) {
    const { fix } = error instanceof UpshotError ? error.details : {}
    return fail('database', error instanceof Error ? error.message : String(error), {
      fix: typeof fix === 'string' ? fix : 'Restore a backup: stop the app and replace upshot.db with it.',
    })
  }
}

function checkLog(config: Pick<Config, 'dataDir'>, log: string): Finding {
  const bytes = existsSync(log) ? statSync(log).size : 0
  const found = `${formatBytes(bytes)} not yet copied into the database`
  if (bytes <= LONG_LOG_BYTES) return ok('write-ahead log', found)
  return warn('write-ahead log', found, {
    fix: 'End any process that reads the database for long, or run "upshot doctor --fix".',
    repair: { will: `copy ${formatBytes(bytes)} of the log into the database`, perform: () => shortenLog(config) },
  })
}
