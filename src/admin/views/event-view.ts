import type { z } from 'zod'
import type { EventRecord } from '../../core/incoming/event.ts'
import { nameSubject } from '../../core/incoming/subject.ts'
import { ROW_OUTPUT_BYTES } from '../../core/runs/step.ts'
import { listWholeSubjects } from '../../core/service/subjects.ts'
import { withIsoTimes } from '../../core/time.ts'
import type { Caller } from '../access/caller.ts'
import type { event } from '../contract/resources/events.ts'
import { maskValue } from './mask.ts'
import { seesPayloads } from './run-view.ts'

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

/** The `data` of an event; null once it is pruned, and above 64 KiB. */
export function readData({ body }: EventRecord, caller: Pick<Caller, 'role'>): unknown {
  if (body === '' || body.length > ROW_OUTPUT_BYTES) return null
  const { data } = JSON.parse(body)
  return seesPayloads(caller) ? data : maskValue(data)
}

/** Subjects of one event that are named. */
const MAX_SUBJECTS = 20

/** Files and ids that an event tells of, those with their storage first. */
export function readSubjects({ body }: EventRecord, caller: Pick<Caller, 'role'>): string[] {
  if (body === '' || body.length > ROW_OUTPUT_BYTES || !seesPayloads(caller)) return []
  return listWholeSubjects(JSON.parse(body).data).slice(0, MAX_SUBJECTS)
}
