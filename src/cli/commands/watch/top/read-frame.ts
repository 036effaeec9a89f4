import { stat } from 'node:fs/promises'
import type { Verdict } from '../../../../core/incoming/delivery.ts'
import { tellFailure } from '../../../../core/runs/failures/tell-failure.ts'
import type { Run } from '../../../../core/runs/run.ts'
import type { Progress } from '../../../../core/runs/told/progress.ts'
import { PROCESS_SILENCE_MS, type ProcessRecord } from '../../../../core/store/health/processes.ts'
import type { ServerRoom } from '../../../../core/store/health/server.ts'
import type { OpenRuns } from '../../../../core/store/runs.ts'
import type { ReadStore } from '../../../../core/store/store.ts'
import type { RecentRoom } from './recent-room.ts'
import type { RecentLoad, RecentRuns } from './recent-runs.ts'

/** Everything that one frame shows. Times are epoch milliseconds. */
export interface Frame extends RecentLoad {
  at: number
  /** The processes that said within 35 s that they live. */
  processes: ProcessRecord[]
  databaseBytes: number
  logBytes: number
  /** Tables and weeks; null where the database is a file. */
  room: ServerRoom | null
  /** Deliveries of the last minute; `isMore` where there were more than are counted. */
  received: { accepted: number; duplicate: number; conflict: number; refused: number; isMore: boolean }
  runs: OpenRuns
  /** The runs at work that tell how far they have come, newest first. */
  atWork: WorkingRun[]
  /** Failed runs and those that wait for a person, newest first. */
  forPerson: PersonalRun[]
}

export interface WorkingRun extends Pick<Run, 'id' | 'workflow'> {
  progress: Progress
}

export interface PersonalRun extends Pick<Run, 'id' | 'workflow' | 'status' | 'createdAt'> {
  /** Why it failed, or what it waits for. */
  why: string
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const MAX_DELIVERIES = 1_000
const MAX_PERSONAL = 50

/** Reads a frame in about 10 ms, whatever the store holds. */
export async function readFrame(
  { store, recent, rooms, database }: { store: ReadStore; recent: RecentRuns; rooms: RecentRoom; database: string },
  { now, filter }: { now: number; filter: string },
): Promise<Frame> {
  const processes = (await store.listProcesses()).filter(({ seenAt }) => now - seenAt < PROCESS_SILENCE_MS)
  const load = await recent.look(now)
  const room = await rooms.look(now)
  const isShown = (workflow: string) => workflow.includes(filter)
  return {
    ...load,
    workflows: load.workflows.filter(({ workflow }) => isShown(workflow)),
    at: now,
    processes,
    room,
    databaseBytes: room?.databaseBytes ?? (await sizeOf(database)),
    logBytes: await sizeOf(`${database}-wal`),
    received: await countDeliveries(store, now),
    runs: await store.countOpenRuns(now),
    atWork: (await listWorking(store)).filter(({ workflow }) => isShown(workflow)),
    forPerson: (await listPersonal(store, now)).filter(({ workflow }) => isShown(workflow)),
  }
}

async function countDeliveries(store: ReadStore, now: number): Promise<Frame['received']> {
  const rows = await store.listDeliveries({ since: now - MINUTE_MS, limit: MAX_DELIVERIES })
  const count = (verdict: Verdict) => rows.filter((row) => row.verdict === verdict).length
  const taken = { accepted: count('accepted'), duplicate: count('duplicate'), conflict: count('conflict') }
  const refused = rows.length - taken.accepted - taken.duplicate - taken.conflict
  return { ...taken, refused, isMore: rows.length === MAX_DELIVERIES }
}

async function listPersonal(store: ReadStore, now: number): Promise<PersonalRun[]> {
  const failed = await store.listRuns({ resolved: false, since: now - DAY_MS, limit: MAX_PERSONAL })
  const waiting = await store.listRuns({ waitsForPerson: true, limit: MAX_PERSONAL })
  return [...failed, ...waiting]
    .sort((one, other) => (one.id < other.id ? 1 : -1))
    .map(({ id, workflow, status, createdAt, error, reason }) => {
      const why = error === null ? (reason ?? '') : tellFailure(error)
      return { id, workflow, status, createdAt, why }
    })
}

async function listWorking(store: ReadStore): Promise<WorkingRun[]> {
  const runs = await store.listRuns({ status: 'running', limit: MAX_PERSONAL })
  return runs.flatMap(({ id, workflow, progress }) => (progress === null ? [] : [{ id, workflow, progress }]))
}

function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  )
}
