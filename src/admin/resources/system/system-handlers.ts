import { presentMode } from '../../../core/safety/stop.ts'
import { listSwitches } from '../../../core/store/list-switches.ts'
import { PROCESS_SILENCE_MS, type ProcessRecord } from '../../../core/store/process-record.ts'
import { weekGoesAt } from '../../../core/store/retention.ts'
import { type DeliveryHour, HOUR_MS, listHoursNow } from '../../../core/store/run-hour.ts'
import { MAX_COUNTED } from '../../../core/store/runs.ts'
import type { ServerRoom } from '../../../core/store/server.ts'
import { isoTime, momentOf, withIsoTimes } from '../../../core/time.ts'
import type { SYSTEM_ROUTES } from '../../contract/resources/system/system.ts'
import type { Handlers } from '../../perform/handler.ts'
import type { Surroundings } from '../../ports/surroundings.ts'
import { listNextTicks } from '../../queries/list-next-ticks.ts'
import { readSweepViews } from '../../queries/read-sweep-views.ts'
import type { ResourceParts } from '../parts.ts'

const DAY_MS = 86_400_000
/** Open approvals that are counted. */
const MAX_APPROVALS = 100
/** Ticks that are listed ahead. */
const MAX_NEXT = 5
/** Schedules that are looked at for them. Those that send an event have no ticks. */
const MAX_SCHEDULES = 50

/** The overview, and the state of the processes and the database. */
export function systemHandlers(parts: ResourceParts): Handlers<keyof typeof SYSTEM_ROUTES> {
  const { store, surroundings, health } = parts
  return {
    'GET /overview': async ({ now }) => ({
      ...(await readCounts(parts, now)),
      ...(await readSafety(parts, now)),
      ...(await readPlans(parts, now)),
      alerts: await readAlerts(parts),
      received: sumDeliveries(await listDeliveryHours(parts, now)),
      hours: (await listHoursNow(store, now - DAY_MS, now)).map(({ hour, ...rest }) => ({
        ...rest,
        at: isoTime(hour * HOUR_MS),
      })),
    }),
    async 'GET /system'({ now }) {
      const { ready, ...found } = await health.check()
      const processes = (await store.listProcesses()).map((process) => describeProcess(process, now))
      const disk = await surroundings.readDisk()
      const room = await store.readServerRoom(now)
      const databaseBytes = room?.databaseBytes ?? disk.databaseBytes
      return {
        isReady: ready,
        ...found,
        processes,
        ...disk,
        databaseBytes,
        room: describeRoom(room, surroundings),
        effects: presentMode(await listSwitches(store)),
        sandboxUrl: surroundings.sandboxUrl(),
        blockedKeys: (await surroundings.blockedKeys(now)).map(({ until, ...key }) => ({
          ...key,
          until: isoTime(until),
        })),
        sweeps: await readSweepViews(store, now),
      }
    },
  }
}

function describeRoom(room: ServerRoom | null, surroundings: Pick<Surroundings, 'retention'>) {
  if (room === null) return null
  const retention = surroundings.retention()
  const weeks = room.weeks.map(({ kind, kept, until, oldest }) => ({
    kind,
    kept,
    until: momentOf(until),
    next: oldest && {
      from: isoTime(oldest.from),
      bytes: oldest.bytes,
      goesAt: momentOf(weekGoesAt(kind, oldest.to, retention)),
    },
  }))
  return { tables: room.tables, weeks }
}

async function readCounts({ store }: ResourceParts, now: number) {
  const { failed, forPerson, pending, running, oldestPendingAt } = await store.countRuns(now - DAY_MS)
  return {
    failed: bound(failed),
    forPerson: bound(forPerson),
    pending: bound(pending),
    running: bound(running),
    oldestPendingAt: momentOf(oldestPendingAt),
  }
}

function bound(count: number) {
  return { count: Math.min(count, MAX_COUNTED - 1), isMore: count === MAX_COUNTED }
}

async function readSafety({ store }: ResourceParts, now: number) {
  const open = await store.listApprovals({ status: 'open', limit: MAX_APPROVALS, now })
  const effects = open.reduce((sum, { openItems, kind }) => sum + (kind === 'guard' ? openItems : 0), 0)
  return { approvals: { open: open.length, effects }, stops: (await store.listStops()).length }
}

async function readAlerts({ store, surroundings }: ResourceParts) {
  const books = await Promise.all(surroundings.alerts().rules.map(({ name }) => store.loadAlertBook(name)))
  const open = books.flatMap((kept) => kept?.book.topics ?? []).filter(({ endedAt }) => endedAt === null)
  return { open: open.length, newest: open.toSorted((one, other) => other.since - one.since)[0]?.title ?? null }
}

async function readPlans(parts: ResourceParts, now: number) {
  const { store } = parts
  const schedules = await store.listSchedules({ limit: MAX_SCHEDULES, order: 'next' })
  const ticking = schedules.flatMap(({ workflow, ...rest }) => (workflow === null ? [] : [{ ...rest, workflow }]))
  const next = ticking.slice(0, MAX_NEXT).map(async (schedule) => {
    const { name, workflow } = schedule
    const moments = await listNextTicks(parts, schedule, { now, count: MAX_NEXT })
    return moments.map((moment) => ({ schedule: name, workflow, moment }))
  })
  const soonest = (await Promise.all(next))
    .flat()
    .toSorted((one, other) => one.moment - other.moment)
    .slice(0, MAX_NEXT)
  const paused = (await store.listWorkflows()).filter(({ pausedAt }) => pausedAt !== null)
  return {
    pausedWorkflows: paused.map(({ id }) => id),
    missedTicks: await store.tallyMissed(),
    upNext: soonest.map(({ moment, ...rest }) => ({ ...rest, at: isoTime(moment) })),
  }
}

/** Counted hours, and the present one asked live. */
async function listDeliveryHours({ store }: ResourceParts, now: number): Promise<DeliveryHour[]> {
  const present = Math.floor(now / HOUR_MS)
  const counted = (await store.listDeliveryHours(now - DAY_MS)).filter(({ hour }) => hour < present)
  return [...counted, ...(await store.readHourDeliveries(present))]
}

function sumDeliveries(hours: readonly DeliveryHour[]) {
  const sum = { accepted: 0, duplicate: 0, conflict: 0, refused: 0 }
  for (const { verdict, deliveries } of hours) {
    if (verdict === 'probe') continue
    const isTaken = verdict === 'accepted' || verdict === 'duplicate' || verdict === 'conflict'
    sum[isTaken ? verdict : 'refused'] += deliveries
  }
  return sum
}

function describeProcess({ receiverUrl, broken, ...rest }: ProcessRecord, now: number) {
  return {
    ...withIsoTimes(rest),
    receiverUrl: receiverUrl === '' ? null : receiverUrl,
    broken: [...broken],
    isSilent: now - rest.seenAt >= PROCESS_SILENCE_MS,
  }
}
