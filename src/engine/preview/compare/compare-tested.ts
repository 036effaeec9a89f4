import type { JsonValue } from '../../../core/json.ts'
import { compareSides, describeChange } from './compare-sides.ts'
import type { Deed, Ending, RunSide } from './deed.ts'

/** The run of a test, when it was written and with the code of today. */
export interface PreviewedRun {
  did: TestedRun
  /** The same as `did`, where no change is found. */
  does: TestedRun
}

/** The end and the effects of a run, in the form of a test. */
export interface TestedRun {
  /** `text`: the error, the reason, or the step without an answer. */
  end: { kind: Ending['kind']; text: string; output: JsonValue }
  /** Effects, in the order in which they would begin. */
  effects: TestedEffect[]
  /** Differences, as `upshot backtest` names them. Effects that do not wait have no order. */
  changes: string[]
}

/** An effect of a previewed run. Parts that say nothing are left out. */
export interface TestedEffect {
  step: string
  class: Deed['class']
  target?: string
  /** State that a delete requires. */
  expect?: JsonValue
  /** Content of a write, the data of an event, the input of a run, or the question to people. */
  body?: JsonValue
}

/** Compares two previews of a recorded run, as a backtest does. */
export function compareTested(did: RunSide, does: RunSide): PreviewedRun {
  const verdict = compareSides(did, does, { withOutputs: true })
  const before = describeSide(did, [])
  if (verdict.kind === 'same') return { did: before, does: before }
  const isOpen = verdict.kind === 'unknown'
  const changes = isOpen ? [`cannot say: ${does.end.text}`] : verdict.changes.map(describeChange)
  return { did: before, does: describeSide(does, changes) }
}

function describeSide({ end, deeds }: RunSide, changes: string[]): TestedRun {
  return { end: { ...end, output: parse(end.output) ?? null }, effects: deeds.map(describeEffect), changes }
}

function describeEffect({ step, class: kind, ...deed }: Deed): TestedEffect {
  const [expect, body] = [parse(deed.expect), parse(deed.content)]
  return {
    step,
    class: kind,
    ...(deed.target !== null && { target: deed.target }),
    ...(expect !== undefined && { expect }),
    ...(body !== undefined && { body }),
  }
}

function parse(text: string | null | undefined): JsonValue | undefined {
  return text == null ? undefined : JSON.parse(text)
}
