import type { Recording } from '../../core/runs/claim.ts'
import type { RunStatus } from '../../core/runs/run.ts'
import { type Differences, NO_DIFFERENCES } from '../../core/safety/differences/difference.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { groupOf } from '../../engine/play/compare/compare-sides.ts'
import type { Fit } from '../../engine/play/fit-recording.ts'
import { describeRefused } from '../play/describe-play.ts'
import type { Room, RoomFit } from '../play/room.ts'
import { addPages, type PageOptions } from './backtest.ts'
import { listIds } from './read-cases.ts'

type Reads = Pick<ReadStore, 'listRuns' | 'readRecordings'>

interface Options extends PageOptions {
  /** Runs of this workflow only; undefined: of all. */
  workflow: string | undefined
  now: number
}

const UNFINISHED: readonly RunStatus[] = ['waiting', 'pending', 'running']

/** How a run ends that would not go on, in a word of a difference. */
const WORDS: Record<Exclude<Fit['kind'], 'fits'>, string> = {
  diverges: 'diverges',
  fails: 'fails',
  halts: 'waits for a person',
  skips: 'is skipped',
  keeps: 'keeps its wait',
}

/** Plays every unfinished run on its journal with the code of a room. Nothing is written. */
export function checkUnfinished(store: Reads, room: Pick<Room, 'fit'>, options: Options): Promise<Differences> {
  const { workflow, now } = options
  return addPages(readUnfinished(store, workflow), options, (recordings) =>
    Promise.all(recordings.map(async (recording) => judge(recording, await room.fit(recording, now)))),
  )
}

/** A journal without a step fits any code. */
async function* readUnfinished(store: Reads, workflow: string | undefined): AsyncGenerator<Recording[]> {
  for (const status of UNFINISHED) {
    for await (const ids of listIds(store, { status, ...(workflow === undefined ? {} : { workflow }) })) {
      yield (await store.readRecordings(ids)).filter(({ steps }) => steps.length > 0)
    }
  }
}

function judge({ run: { id, workflow, eventId } }: Recording, fit: RoomFit): Differences {
  const one = { ...NO_DIFFERENCES, runs: 1, answered: 1 }
  if (fit.kind === 'fits') return { ...one, same: 1 }
  // A refused call explains more than the fault that followed it.
  const [refused] = fit.undeclared
  const to = refused ? `fails: ${describeRefused(refused)} is refused here` : `${WORDS[fit.kind]}: ${fit.reason}`
  const about = { sign: '~', class: 'end', operation: workflow, target: null, bytes: 0 } as const
  return { ...one, groups: [groupOf([{ ...about, from: 'goes on', to }], { run: id, event: eventId })] }
}
