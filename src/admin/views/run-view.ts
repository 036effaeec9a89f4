import type { z } from 'zod'
import { includesRole } from '../../core/access/role.ts'
import { answerStatus, type DeliveryRecord } from '../../core/incoming/delivery.ts'
import type { EventRecord } from '../../core/incoming/event.ts'
import { maskTokens, mayHaveHooks } from '../../core/incoming/hook.ts'
import { isPlainObject } from '../../core/json.ts'
import { type Progress, shareOf, timeLeft } from '../../core/runs/annotations/progress.ts'
import { findObstacle, type Run } from '../../core/runs/run.ts'
import { type Checkpoint, ROW_OUTPUT_BYTES, type StepFailure } from '../../core/runs/step.ts'
import type { EffectRecord } from '../../core/safety/effect.ts'
import { listWholeSubjects, nameSubject } from '../../core/service/subjects.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { momentOf, withIsoTimes } from '../../core/time.ts'
import type { Caller } from '../access/caller.ts'
import type { delivery } from '../contract/resources/deliveries.ts'
import type { event } from '../contract/resources/events.ts'
import type { run, step } from '../contract/resources/runs.ts'

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

/** A row of the effect ledger as the API gives it; a viewer sees no path. */
export function describeEffect(
  { asked, expect, before, eventSeq: _, ...row }: EffectRecord,
  caller: Pick<Caller, 'role'>,
) {
  const isSeen = seesPayloads(caller)
  const read = (text: string | null) => (isSeen && text !== null ? (JSON.parse(text) as unknown) : null)
  return {
    ...withIsoTimes(row),
    path: isSeen ? row.path : null,
    asked: read(asked),
    expect: read(expect),
    before: read(before),
  }
}

/** Deliveries as the API gives them, with the names of their endpoints, removed ones too. */
export async function describeDeliveries(
  store: Pick<ReadStore, 'listEndpointNames' | 'listEventsOf'>,
  records: readonly DeliveryRecord[],
  caller: Pick<Caller, 'role'>,
): Promise<z.input<typeof delivery>[]> {
  const endpoints = new Map((await store.listEndpointNames()).map((endpoint) => [endpoint.id, endpoint]))
  const stored = records.filter(({ eventId }) => eventId !== null).map(({ id }) => id)
  const events = new Map((await store.listEventsOf('delivery', stored)).map(({ of, event }) => [of, event]))
  return records.map(({ endpointId, ...record }) => {
    const event = events.get(record.id)
    return {
      ...withIsoTimes(record),
      endpoint: endpoints.get(endpointId ?? '')?.name ?? null,
      isEndpointRemoved: (endpoints.get(endpointId ?? '')?.removedAt ?? null) !== null,
      status: answerStatus(record),
      eventType: event?.type ?? null,
      subject: event === undefined || !seesPayloads(caller) ? null : nameSubject(event),
      facts: { ...record.facts },
    }
  })
}

/** An event without its body. */
export function describeEvent(record: EventRecord, caller: Pick<Caller, 'role'>): z.input<typeof event> {
  const { body, ...rest } = record
  return {
    ...withIsoTimes(rest),
    subject: seesPayloads(caller) ? nameSubject(record) : null,
    bodyBytes: Buffer.byteLength(body),
    isPruned: body === '',
  }
}

/** The `data` of an event; null once it is pruned, and above 64 KiB, where `dataNote` says more. */
export function readData(
  { id, body }: EventRecord,
  caller: Pick<Caller, 'role'>,
): { data: unknown; dataNote: string | null } {
  if (body === '') return { data: null, dataNote: null }
  if (body.length > ROW_OUTPUT_BYTES) {
    const how = `"upshot events show ${id} --data", the tool readEventData, or GET /events/${id}/data`
    return { data: null, dataNote: `The data is larger than 64 KiB. An operator reads it by ${how}.` }
  }
  const { data } = JSON.parse(body)
  return { data: seesPayloads(caller) ? data : maskValue(data), dataNote: null }
}

/** Subjects of one event that are named. */
const MAX_SUBJECTS = 20

/** Files and ids that an event tells of, those with their storage first. */
export function readSubjects({ body }: EventRecord, caller: Pick<Caller, 'role'>): string[] {
  if (body === '' || body.length > ROW_OUTPUT_BYTES || !seesPayloads(caller)) return []
  return listWholeSubjects(JSON.parse(body).data).slice(0, MAX_SUBJECTS)
}

/**
 * The shape of a value without its content. The name of its type replaces each text, number and
 * boolean; names of fields stay.
 */
export function maskValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskValue)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, content]) => [name, maskValue(content)]))
  }
  return value === null ? null : `‹${typeof value}›`
}

/** Names in filters and audit rows whose values may come from payloads. */
const OF_PAYLOADS = ['path', 'subject', 'words', 'tags', 'one', 'other']

/** The request of somebody; a viewer sees no path, word or tag of it. */
export function describeAsked(asked: object, caller: Pick<Caller, 'role'>): Record<string, unknown> {
  if (seesPayloads(caller)) return { ...asked }
  const read = ([name, value]: [string, unknown]): [string, unknown] => {
    if (OF_PAYLOADS.includes(name)) return [name, maskValue(value)]
    return [name, isPlainObject(value) ? describeAsked(value, caller) : value]
  }
  return Object.fromEntries(Object.entries(asked).map(read))
}

/** An answer in which no URL of a hook can be used, wherever an author's value holds one. */
export function maskCallbacks<Answer>(answer: Answer): Answer {
  const text = JSON.stringify(answer) ?? ''
  return mayHaveHooks(text) ? JSON.parse(maskTokens(text)) : answer
}

/** The same as a line of JSON. */
export function writeMasked(answer: unknown): string {
  return `${maskTokens(JSON.stringify(answer))}\n`
}
