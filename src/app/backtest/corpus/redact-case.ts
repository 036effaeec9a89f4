import type { Failure } from '../../../core/errors.ts'
import type { EventRecord, ServiceEvent } from '../../../core/incoming/event.ts'
import { isPlainObject } from '../../../core/json.ts'
import type { ClaimedRun, RunCause } from '../../../core/runs/claim.ts'
import type { Checkpoint } from '../../../core/runs/step.ts'
import type { RunRoot } from '../../../core/runs/trace.ts'
import { compareSides } from '../../../engine/play/compare/compare-sides.ts'
import type { Deed, RunSide } from '../../../engine/play/compare/deed.ts'
import type { WholeRun } from '../../../engine/play/play-recorded.ts'
import { isSecretName, REDACTED } from '../../../engine/play/portable.ts'
import type { RecordedCase } from '../read-cases.ts'
import type { WordRedactor } from './word-redactor.ts'

/** A case that needs no database: its job has all that its code was given. */
export interface CorpusCase extends RecordedCase {
  job: WholeRun
}

/** A case with other words in every text that an event or a step brought. */
export function redactCase(words: WordRedactor, found: CorpusCase): CorpusCase {
  const { run, event, account, at, job, side, isCut } = found
  const redact = redactWith(words)
  return {
    ...{ run, event: event && words.redact(event), account: words.redact(account), at, isCut },
    job: redactRun(words, job),
    side: redactSide(redact, side),
  }
}

function redactSide(redact: Redact, { end: { kind, text, output }, deeds, ...more }: RunSide): RunSide {
  return {
    end: { kind, text: redact.text(text), output: output === null ? null : redact.json(output) },
    deeds: deeds.map((deed) => redactDeed(redact, deed)),
    ...more,
  }
}

/** Whether a play with other words has the effects of one with the own words, in its order. */
export function isAlike(words: WordRedactor, own: RunSide, other: RunSide): boolean {
  const bare = ({ end, deeds }: RunSide): RunSide => ({
    end: { kind: end.kind, text: '', output: null },
    deeds: deeds.map(({ expect: _, content: __, ...deed }) => deed),
  })
  return compareSides(bare(redactSide(redactWith(words), own)), bare(other)).kind === 'same'
}

/** A recorded run with other words. */
export function redactRun<Run extends WholeRun>(words: WordRedactor, run: Run): Run {
  const redact = redactWith(words)
  const { events, deletes, spellings } = run.given
  return {
    ...run,
    claim: redactClaim(redact, run.claim),
    steps: run.steps.map((step) => redactStep(redact, step)),
    given: {
      events: events.map((each) => redactEvent(redact, each)),
      deletes: deletes.map((each) => redactStep(redact, each)),
      spellings,
    },
  }
}

function redactWith(words: WordRedactor): Redact {
  return { json: (text) => redactJson(words, text), text: (text) => words.redact(text) }
}

interface Redact {
  text: (text: string) => string
  /** Redacts the values of JSON text. */
  json: (text: string) => string
}

function redactClaim({ text, json }: Redact, claim: ClaimedRun): ClaimedRun {
  const { received, failure, cause, tags } = claim
  const streams = Object.entries(received ?? {}).map(([stream, ids]) => [text(stream), ids.map(text)])
  return {
    ...claim,
    lease: { runId: claim.lease.runId, fence: claim.lease.fence, worker: '' },
    cause: redactCause({ text, json }, cause),
    ...(received && { received: Object.fromEntries(streams) }),
    ...(tags && { tags: Object.fromEntries(Object.entries(tags).map(([name, value]) => [name, text(value)])) }),
    failure: failure && redactFailure({ text, json }, failure),
  }
}

function redactCause(redact: Redact, cause: RunCause): RunCause {
  if (cause.kind === 'event') return { ...cause, event: redactEvent(redact, cause.event) }
  const account = redact.text(cause.account)
  if (cause.kind === 'tick') return { ...cause, account }
  return { ...cause, account, input: redact.json(cause.input), root: redactRoot(redact, cause.root) }
}

function redactRoot({ text }: Redact, root: RunRoot): RunRoot {
  return root.kind === 'event' ? { ...root, account: text(root.account), event: text(root.event) } : root
}

function redactEvent({ text, json }: Redact, event: EventRecord): EventRecord {
  const { id, account, body } = event
  const about = { ...event, id: text(id), account: text(account) }
  if (body === '') return about
  const { type, created, data } = JSON.parse(body) as ServiceEvent
  return {
    ...about,
    body: JSON.stringify({ id: text(id), type, created, data: JSON.parse(json(JSON.stringify(data))) }),
  }
}

function redactStep(redact: Redact, { apartBytes: _, ...step }: Checkpoint): Checkpoint {
  const { key, target, output, error } = step
  return {
    ...{ ...step, key: redact.text(key), target: target === null ? null : redact.text(target) },
    output: output === null ? null : redact.json(output),
    error: error && redactFailure(redact, error),
  }
}

/** The frames of a stack are places on a machine. */
function redactFailure({ text }: Redact, { at: _, ...failure }: Failure): Failure {
  const { name, message, code, step } = failure
  return {
    ...{ name: /^[A-Z][A-Za-z]*Error$/.test(name) ? name : text(name), message: text(message) },
    ...(code !== undefined && { code: /^[A-Z][A-Z_]+$/.test(code) ? code : text(code) }),
    ...(step !== undefined && { step: text(step) }),
  }
}

function redactDeed({ text, json }: Redact, deed: Deed): Deed {
  const part = (value: string | null | undefined) => (typeof value === 'string' ? json(value) : value)
  const { step, operation, target, expect, content } = deed
  return {
    ...{ ...deed, step: text(step), operation: text(operation), target: target === null ? null : text(target) },
    ...{ expect: part(expect), content: part(content) },
  }
}

function redactJson(words: WordRedactor, text: string): string {
  const walk = (value: unknown, name: string): unknown => {
    if (typeof value === 'string') return isSecretName(name) ? REDACTED : words.redact(value)
    if (Array.isArray(value)) return value.map((item) => walk(item, name))
    if (!isPlainObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([each, item]) => [words.redact(each), walk(item, each)]))
  }
  return JSON.stringify(walk(JSON.parse(text), ''))
}
