import type { z } from 'zod'
import { includesRole } from '../../core/access/role.ts'
import type { EventRecord } from '../../core/incoming/event.ts'
import { nameSubject } from '../../core/incoming/subject.ts'
import { findObstacle, type Run } from '../../core/runs/run.ts'
import type { Checkpoint } from '../../core/runs/step.ts'
import { type Progress, shareOf, timeLeft } from '../../core/runs/told/progress.ts'
import type { StepFailure } from '../../core/store/journal.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { withIsoTimes } from '../../core/time.ts'
import type { Caller } from '../access/caller.ts'
import type { run, step } from '../contract/resources/runs.ts'
import { maskValue } from './mask.ts'
import { momentOf } from './moment-of.ts'

type RunView = z.input<typeof run>
type StepView = z.input<typeof step>

/** Runs as the API gives them, each with the subject of its event: one more query for all. */
export async function describeRuns(
  store: Pick<ReadStore, 'listEventsOf'>,
  runs: readonly Run[],
  caller: Pick<Caller, 'role'>,
): Promise<RunView[]> {
  const found = await store.listEventsOf(
    'run',
    runs.map(({ id }) => id),
  )
  const events = new Map(found.map(({ of, event }) => [of, event]))
  return runs.map((each) => describeRun(each, events.get(each.id) ?? null, caller))
}

function describeRun(given: Run, event: EventRecord | null, caller: Pick<Caller, 'role'>): RunView {
  const { output, apartBytes, ...rest } = given
  return {
    ...withIsoTimes(rest),
    needsPerson: findObstacle('resume', given, 0) === null,
    eventType: event?.type ?? null,
    subject: event === null || !seesPayloads(caller) ? null : nameSubject(event),
    deadline: momentOf(given.deadline),
    resolution: given.resolution && withIsoTimes(given.resolution),
    outputBytes: apartBytes ?? (output === null ? null : Buffer.byteLength(output)),
    progress: given.progress && describeProgress(given.progress),
    tags: (seesPayloads(caller) ? given.tags : maskValue(given.tags)) as Run['tags'],
  }
}

function describeProgress(progress: Progress): RunView['progress'] {
  return { ...withIsoTimes(progress), share: shareOf(progress), leftMs: timeLeft(progress) }
}

/** A step with its failed attempts. */
export function describeStep(given: Checkpoint, failures: readonly StepFailure[] = []): StepView {
  const { output, apartBytes, ...rest } = given
  return {
    ...withIsoTimes(rest),
    outputBytes: apartBytes ?? (output === null ? null : Buffer.byteLength(output)),
    failures: failures.map(({ key: _, ...failure }) => withIsoTimes(failure)),
  }
}

/** Whether a caller may see the values of payloads. */
export function seesPayloads({ role }: Pick<Caller, 'role'>): boolean {
  return includesRole(role, 'operator')
}
