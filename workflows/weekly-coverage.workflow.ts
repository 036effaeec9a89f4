import { execFile } from 'node:child_process'
import { cron, defineWorkflow } from 'upshot'
import { alerts } from '../config/alerts.ts'
import { coverageReport } from '../config/coverage-report.ts'
import { paths } from '../config/paths.ts'
import { postJson } from './post-json.ts'
import { writeJson } from './write-whole.ts'

const WEEK_MS = 7 * 24 * 60 * 60_000

/** Exit codes of "upshot coverage" where an event was lost, and where nobody can tell. */
const [LOST, UNKNOWN] = [7, 8]

/** Output of one call in memory: some ten thousand losses. */
const MAX_BYTES = 64 * 1024 ** 2

/** The part of `upshot coverage --json` that is reported. */
interface Coverage {
  storages: { account: string; storage: string; known: number; arrived: number; gone: number; sweep: Sweep }[]
  findings: { type: string; storage: string; file: string; path: string; state: string }[]
  unknowable: string[]
}

interface Sweep {
  ended: { at: string; fault: string | null } | null
}

/** Writes a report each week of what sweeps found, and posts it to `ALERT_URL`. */
export default defineWorkflow({
  id: 'weekly-coverage',
  on: cron(coverageReport.schedule, { timezone: coverageReport.timezone }),
  async run({ tick, step }) {
    const until = tick.scheduledFor
    const since = new Date(until.getTime() - WEEK_MS).toISOString()
    const report = await step.run('read coverage', async ({ signal }) => describe(since, await read(since, signal)), {
      effect: 'read',
      timeout: '10m',
    })
    const name = `coverage-${until.toISOString().slice(0, 10)}`
    const record = await step.run('write report', () => writeJson(paths.reports, name, report))
    const { url } = alerts
    if (url === null) return { record, lost: report.lost, posted: false }
    await step.run('post report', (attempt) => postJson(url, report, attempt), {
      retry: { attempts: 10, min: '5s', max: '15m' },
      timeout: '30s',
    })
    return { record, lost: report.lost, posted: true }
  },
})

/** A process of its own: reading millions of files does not hold up the runs of this one. */
function read(since: string, signal: AbortSignal): Promise<Coverage> {
  const [program = '', ...args] = coverageReport.command
  const options = { env: coverageReport.environment(), signal, maxBuffer: MAX_BYTES }
  return new Promise((resolve, reject) => {
    execFile(program, [...args, 'coverage', '--since', since, '--json'], options, (error, stdout, stderr) => {
      const isAnswered = error === null || error.code === LOST || error.code === UNKNOWN
      // A database that cannot be read has the code 8, too, and no data.
      const data = isAnswered && stdout !== '' ? JSON.parse(stdout).data : undefined
      if (data) resolve(data)
      else reject(new Error(`"upshot coverage" failed: ${stderr.trim() || error?.message}`))
    })
  })
}

function describe(since: string, { storages, findings, unknowable }: Coverage) {
  const lost = findings.filter(({ state }) => state !== 'reported' && state !== 'unclear')
  const unclear = findings.filter(({ state }) => state === 'unclear').length
  const stale = storages.filter(({ sweep }) => sweep.ended === null || sweep.ended.fault !== null)
  const faults = stale.map(
    ({ account, storage, sweep }) => `${account}/${storage}: ${sweep.ended?.fault ?? 'none ended'}`,
  )
  return {
    text: describeInWords(storages.length, { lost: lost.length, unclear, faults: faults.length }),
    since,
    lost: lost.length,
    unclear,
    named: lost.slice(0, coverageReport.named).map(({ type, path, state }) => `${type} of ${path}: ${state}`),
    storages: storages.map(({ sweep, ...counts }) => ({ ...counts, lastSweep: sweep.ended?.at ?? null })),
    incompleteSweeps: faults,
    unknowable,
  }
}

function describeInWords(
  storages: number,
  { lost, unclear, faults }: { lost: number; unclear: number; faults: number },
) {
  if (storages === 0) return 'No storage is compared with events: name one under "reconcile" in the project file.'
  const many = lost === 1 ? '1 event was lost' : `${lost} events were lost`
  const losses = lost === 0 ? 'No event was lost' : many
  const doubts = unclear === 0 ? '' : `, ${unclear} unclear`
  const sweeps = faults === 0 ? '' : `; not complete: the last sweep of ${faults}`
  return `${losses} in the last week${doubts}${sweeps}.`
}
