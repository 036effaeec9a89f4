import { dirname } from 'node:path'
import { readSweepViews, type SweepView } from '../../../admin/queries/read-sweep-views.ts'
import type { Approval, Approver } from '../../../core/safety/approval.ts'
import type { Seal } from '../../../core/safety/ledger/seal.ts'
import { describeScope, presentMode } from '../../../core/safety/stop.ts'
import { FILE_TYPES, type SweepPlan } from '../../../core/service/sweep/sweep-plan.ts'
import { listSwitches } from '../../../core/store/list-switches.ts'
import { type Retention, type WeekKind, weekGoesAt } from '../../../core/store/retention.ts'
import type { ServerRoom, WeekRoom } from '../../../core/store/server.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import { isoTime } from '../../../core/time.ts'
import type { Config } from '../../../project/config/load-config.ts'
import { loadAnchors } from '../../../project/data-dir/anchor-file.ts'
import { commandClock } from '../../command-clock.ts'
import { formatBytes } from '../../terminal/format-value.ts'
import { describeSweepView } from '../events/losses/sweep-view.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** A stop that is this old was perhaps forgotten. */
const OLD_STOP_MS = 86_400_000

/** Checks that deletes are bounded, and that people hear of what waits for them. */
export async function checkSafety(store: ReadStore, config: Config): Promise<Finding[]> {
  return [
    ...(await checkEffects(store, config)),
    ...(await checkApprovals(store, config)),
    ...(await checkStops(store)),
  ]
}

/** Warns where the guard is off, also before there is a database. */
export function checkGuard({ guardPolicy }: Config): Finding[] {
  if (guardPolicy.limits !== null) return []
  return [
    warn('guard', 'it is off: workflows may delete any number of files', {
      fix: 'Remove UPSHOT_GUARD=off, and raise the limits in `guard` of the project file instead.',
    }),
  ]
}

/** The mode of the last start, and the one that the environment here names. */
async function checkEffects(store: ReadStore, { effects = 'live' }: Config): Promise<Finding[]> {
  const switches = await listSwitches(store)
  const mode = presentMode(switches)
  const since = switches.at(-1)?.at
  const found = since === undefined ? '' : ` since ${isoTime(since)}`
  const planned =
    mode === 'plan'
      ? [
          warn('effects', `NOTHING ACTS${found}: runs are only planned`, {
            fix: 'To act, start with UPSHOT_EFFECTS=live.',
          }),
        ]
      : []
  if (mode === effects) return planned
  const other = `UPSHOT_EFFECTS is ${effects} here, but the app last started with ${mode}`
  return [...planned, warn('effects', other, { fix: 'The next start switches. Check which of them you mean.' })]
}

/** Open approvals that are compared with the people who may decide. */
const MAX_COMPARED = 100

/** At most one finding of who may decide and who is told, and one of too few people. */
async function checkApprovals(store: ReadStore, { alerts, guardPolicy }: Config): Promise<Finding[]> {
  const open = await store.listApprovals({ status: 'open', limit: MAX_COMPARED, now: commandClock.now() })
  const [newest] = open
  if (newest === undefined) return []
  const people = (await store.listApprovers()).filter(({ removedAt }) => removedAt === null)
  const isTold = alerts?.rules.some(({ when }) => when === 'approval.asked') ?? false
  const faults = [
    ...(people.length > 0 ? [] : ['no approver is registered']),
    ...(isTold ? [] : ['no alert rule tells of them']),
  ]
  const fixes = [
    ...(people.length > 0 ? [] : ['Register people with "upshot approvers add <name> --key <file>".']),
    ...(isTold ? [] : ['Add a rule with `when: "approval.asked"` to `alerts` of the project file.']),
  ]
  const found = `approvals wait for people, but ${faults.join(' and ')}; the newest is ${newest.id}`
  const untold = faults.length === 0 ? [] : [warn('approvals', found, { fix: fixes.join(' ') })]
  return people.length === 0 ? untold : [...untold, ...judgePeople(open, people, guardPolicy.approvals.needs)]
}

/** Warns of the first approval that needs more people. `least`: what the project file asks for. */
function judgePeople(open: readonly Approval[], people: readonly Approver[], least: number): Finding[] {
  for (const { id, kind, role, needs: asked } of open) {
    const needs = kind === 'question' ? asked : Math.max(asked, least)
    const able = people.filter(({ roles }) => role === null || roles.includes(role)).length
    if (able >= needs) continue
    const who = `${needs} ${needs === 1 ? 'approver' : 'approvers'}${role === null ? '' : ` with the role "${role}"`}`
    const fix = 'Register the people it needs, or deny it: it expires undecided.'
    return [
      warn('approvers', `approval ${id} needs ${who}, and ${able} ${able === 1 ? 'is' : 'are'} registered`, { fix }),
    ]
  }
  return []
}

async function checkStops(store: ReadStore): Promise<Finding[]> {
  const now = commandClock.now()
  const old = (await store.listStops()).filter(({ since }) => since < now - OLD_STOP_MS)
  return old.map((stop) => {
    const days = Math.floor((now - stop.since) / OLD_STOP_MS)
    const age = days === 1 ? 'for over a day' : `for over ${days} days`
    const option = stop.kind === 'all' ? '' : ` --${stop.kind} ${stop.name}`
    return warn('stop', `${describeScope(stop)} have been stopped ${age} by ${stop.actor}: ${stop.reason}`, {
      fix: `If the reason is over: upshot effects resume${option}`,
    })
  })
}

const DAY_MS = 86_400_000
/** Weeks are made a month ahead, every hour. */
const MIN_AHEAD_MS = 7 * DAY_MS
/** They are removed every hour; a long reader may hold one up. */
const MAX_LATE_MS = DAY_MS

const WORDS: Record<WeekKind, string> = { runs: 'runs', deliveries: 'deliveries', payloads: 'bodies' }

const FIX = 'Run a process with the role all or scheduler. If one runs, a report or a backup may hold the tables.'

/** One finding for each kind of rows that goes by the week; none for a file. */
export async function checkWeeks(store: Pick<ReadStore, 'readServerRoom'>, config: Config): Promise<Finding[]> {
  const now = commandClock.now()
  const room = await store.readServerRoom(now)
  return room === null ? [] : judgeWeeks(room, config.retention, now)
}

/** How many weeks are kept, which goes next, and whether those to come are ready. */
export function judgeWeeks({ weeks }: Pick<ServerRoom, 'weeks'>, retention: Retention, now: number): Finding[] {
  return weeks.map((week) => judge(week, retention, now))
}

function judge({ kind, kept, oldest, until }: WeekRoom, retention: Retention, now: number): Finding {
  const check = `weeks of ${WORDS[kind]}`
  if (until === null) return warn(check, 'none is made, so rows are removed one by one', { fix: FIX })
  const goesAt = oldest === null ? null : weekGoesAt(kind, oldest.to, retention)
  const ready = `made until ${dayOf(until)}`
  const found = `${kept} kept, ${describeNext(oldest, goesAt)}, ${ready}`
  if (until - now < MIN_AHEAD_MS) return warn(check, `${found} only`, { fix: FIX })
  if (goesAt !== null && goesAt < now - MAX_LATE_MS) return warn(check, `${found}: it is late`, { fix: FIX })
  return ok(check, found)
}

function describeNext(oldest: WeekRoom['oldest'], goesAt: number | null): string {
  if (oldest === null) return 'the present one'
  const week = `that of ${dayOf(oldest.from)} (${formatBytes(oldest.bytes)})`
  return goesAt === null ? `the oldest is ${week} and stays for ever` : `next goes ${week} on ${dayOf(goesAt)}`
}

function dayOf(moment: number): string {
  return new Date(moment).toISOString().slice(0, 10)
}

/** The app anchors every hour, and seals every five seconds. */
const OLD_ANCHOR_MS = 2 * 3_600_000
const OLD_ROW_MS = 10 * 60_000

/** Checks that the effect ledger is sealed and anchored. No finding without rows. */
export async function checkLedger(store: Pick<ReadStore, 'readSealState'>, config: Config): Promise<Finding[]> {
  const { head, unsealed, unsealedSince } = await store.readSealState()
  const now = commandClock.now()
  if (unsealedSince !== null && unsealedSince < now - OLD_ROW_MS) {
    const found = `${unsealed} rows have had no seal for over ten minutes`
    return [warn('effect ledger', found, { fix: 'Run a process with the role all or scheduler: it seals them.' })]
  }
  return head === null ? [] : [checkAnchors(config, head, now)]
}

function checkAnchors({ anchorFile = null, dataDir, database, service }: Config, head: Seal, now: number): Finding {
  const sealed = `sealed up to row ${head.last}`
  if (anchorFile === null) return ok('effect ledger', sealed)
  const newest = loadAnchors(anchorFile).at(-1)
  if (newest === undefined) {
    const fix = 'Append to it with "upshot effects anchor", or see the log of the app.'
    return warn('effect ledger', `${sealed}, and ${anchorFile} has no anchor`, { fix })
  }
  if (newest.seal > head.number) {
    return fail('effect ledger', `it ends at seal ${head.number}, before its newest anchor (seal ${newest.seal})`, {
      fix: 'If you restored a backup: upshot effects restored --reason "…". Otherwise rows are lost.',
    })
  }
  const isBehind = newest.seal < head.number && head.at < now - OLD_ANCHOR_MS && newest.at < head.at
  const isBeside = !database && service.kind === 'real' && dirname(anchorFile) === dataDir
  if (isBeside) {
    return warn('effect ledger', `${sealed}, and anchored in the log and beside the database only`, {
      fix: 'Name a file on another disk with UPSHOT_ANCHOR_FILE: whoever can change one file can change both.',
    })
  }
  if (!isBehind) return ok('effect ledger', `${sealed}, anchored up to row ${newest.last}`)
  return warn('effect ledger', `${sealed}, and its newest anchor ends at row ${newest.last}`, {
    fix: 'Run a process with the role all or scheduler and this UPSHOT_ANCHOR_FILE.',
  })
}

/** A sweep is late when none was complete for as long as this many should have been. */
const LATE_AFTER = 3

const LOST = 'See what was lost with "upshot coverage --since 7d", and why with "upshot endpoints list".'

/** One finding for each storage that is compared with events; none where no storage is. */
export async function checkSweeps(store: ReadStore, { reconcile: plans = [] }: Config): Promise<Finding[]> {
  if (plans.length === 0) return []
  const now = commandClock.now()
  const views = await readSweepViews(store, now)
  const book = (await store.loadFileBook())?.book
  const missing = Object.values(FILE_TYPES).filter((type) => book !== undefined && book.types[type] === undefined)
  const unmatched = missing.map((type) =>
    warn('sweeps', `no defineEvent of ${type} has \`file\`, so none of its events can be missed`, {
      fix: 'Add `file` to it: see docs/coverage.md.',
    }),
  )
  return [...plans.map((plan) => judgeSweep(plan, views, now)), ...unmatched]
}

function judgeSweep(plan: SweepPlan, views: readonly SweepView[], now: number): Finding {
  const { account, storage, everyMs } = plan
  const view = views.find((each) => each.account === account && each.storage === storage)
  if (view === undefined)
    return warn('sweeps', `${storage} was never swept`, { fix: 'Start the app, or a process with the role scheduler.' })
  const { complete } = view
  const found = describeSweepView(view)
  if (complete === null) return warn('sweeps', found, { fix: 'Until one is complete, nothing can be lost.' })
  const endedAt = Date.parse(complete.endedAt)
  const dueMs = LATE_AFTER * Math.max(everyMs, endedAt - Date.parse(complete.startedAt))
  if (view.held > 0) return warn('sweeps', found, { fix: 'Decide about them: upshot approvals list' })
  if (view.lost > 0) return warn('sweeps', found, { fix: LOST })
  if (endedAt < now - dueMs)
    return warn('sweeps', found, { fix: 'It is late: look for "sweep" in the log, and give it a larger `budget`.' })
  return ok('sweeps', found)
}
