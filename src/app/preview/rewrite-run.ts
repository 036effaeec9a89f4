import type { Failure } from '../../core/errors.ts'
import type { EventRecord, ServiceEvent } from '../../core/incoming/event.ts'
import type { ClaimedRun, RunCause } from '../../core/runs/claim.ts'
import type { Checkpoint } from '../../core/runs/step.ts'
import type { Deed, RunSide } from '../../engine/preview/compare/deed.ts'
import type { WholeRun } from '../../engine/preview/preview-run.ts'

/** The replacements of the texts of a recorded run. */
export interface Rewriting {
  /** Of words for a person, such as a message. */
  text: (text: string) => string
  /** Of a name: an id, a key, a target, a tag. */
  name: (name: string) => string
  /** Of JSON text. */
  json: (text: string) => string
  /** Rewrites the JSON text of a step's result. Default: as any other text. */
  output?: (output: string, step: Checkpoint) => string
}

/** A recorded run with other texts. Frames of stacks are places of this machine, and go. */
export function rewriteRun<Run extends WholeRun>(rewriting: Rewriting, run: Run): Run {
  const { events, deletes, spellings } = run.given
  return {
    ...run,
    claim: rewriteClaim(rewriting, run.claim),
    steps: run.steps.map((step) => rewriteStep(rewriting, step)),
    given: {
      events: events.map((each) => rewriteEvent(rewriting, each)),
      deletes: deletes.map((each) => rewriteStep(rewriting, each)),
      spellings,
    },
  }
}

export function rewriteSide(rewriting: Rewriting, { end, deeds, ...more }: RunSide): RunSide {
  const { text, json } = rewriting
  return {
    end: { kind: end.kind, text: text(end.text), output: end.output === null ? null : json(end.output) },
    deeds: deeds.map((deed) => rewriteDeed(rewriting, deed)),
    ...more,
  }
}

function rewriteClaim(rewriting: Rewriting, claim: ClaimedRun): ClaimedRun {
  const { name } = rewriting
  const { received, failure, cause, tags, lease } = claim
  const streams = Object.entries(received ?? {}).map(([stream, ids]) => [name(stream), ids.map(name)])
  return {
    ...claim,
    lease: { ...lease, worker: '' },
    cause: rewriteCause(rewriting, cause),
    ...(received && { received: Object.fromEntries(streams) }),
    ...(tags && { tags: Object.fromEntries(Object.entries(tags).map(([tag, value]) => [tag, name(value)])) }),
    failure: failure && rewriteFailure(rewriting, failure),
  }
}

function rewriteCause(rewriting: Rewriting, cause: RunCause): RunCause {
  const { name, json } = rewriting
  if (cause.kind === 'event') return { ...cause, event: rewriteEvent(rewriting, cause.event) }
  const account = name(cause.account)
  if (cause.kind === 'tick') return { ...cause, account }
  const { root } = cause
  const own = root.kind === 'event' ? { ...root, account: name(root.account), event: name(root.event) } : root
  return { ...cause, account, input: json(cause.input), root: own }
}

/** A body that retention has taken stays empty. */
function rewriteEvent({ name, json }: Rewriting, event: EventRecord): EventRecord {
  const { id, account, body } = event
  const about = { ...event, id: name(id), account: name(account) }
  if (body === '') return about
  const { type, created, data } = JSON.parse(body) as ServiceEvent
  return {
    ...about,
    body: JSON.stringify({ id: name(id), type, created, data: JSON.parse(json(JSON.stringify(data))) }),
  }
}

function rewriteStep(rewriting: Rewriting, { apartBytes: _, ...step }: Checkpoint): Checkpoint {
  const { name, json, output = json } = rewriting
  return {
    ...step,
    key: name(step.key),
    target: step.target === null ? null : name(step.target),
    output: step.output === null ? null : output(step.output, step),
    error: step.error && rewriteFailure(rewriting, step.error),
  }
}

function rewriteFailure({ text, name: rename }: Rewriting, { name, message, code, step }: Failure): Failure {
  return {
    name: /^[A-Z][A-Za-z]*Error$/.test(name) ? name : rename(name),
    message: text(message),
    ...(code !== undefined && { code: /^[A-Z][A-Z_]+$/.test(code) ? code : rename(code) }),
    ...(step !== undefined && { step: rename(step) }),
  }
}

function rewriteDeed({ name, json }: Rewriting, deed: Deed): Deed {
  const part = (value: string | null | undefined) => (typeof value === 'string' ? json(value) : value)
  const { step, operation, target, expect, content, after } = deed
  return {
    ...deed,
    step: name(step),
    operation: name(operation),
    target: target === null ? null : name(target),
    expect: part(expect),
    content: part(content),
    ...(after && { after: name(after) }),
  }
}
