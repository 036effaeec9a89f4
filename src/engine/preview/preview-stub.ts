import { describeError } from '../../core/errors.ts'
import { type Checkpoint, stepNameOf } from '../../core/runs/step.ts'
import type { ManualClock } from '../../core/time.ts'
import { neverSettles, type Parking } from '../pass/parking.ts'
import type { LiveReads, StepStub, StubFacts, StubOutcome } from '../pass/step-stub.ts'
import type { Answer, AnswerStep, Previewed, PreviewedEffect, PreviewedEnd, PreviewedStep } from './previewed.ts'
import { Turns } from './turns.ts'

/** The reason of a pass in which nothing answers. */
export const UNANSWERED = 'nothing answers'

interface StubParts {
  parking: Parking
  clock: ManualClock
  answerStep: AnswerStep
  live: LiveReads
}

/** Gathers what a run would do, and answers its steps. */
export class PreviewStub implements StepStub {
  readonly effects: PreviewedEffect[] = []
  readonly others: PreviewedStep[] = []
  /** The first step that nothing answers; null while there is none. */
  open: Extract<PreviewedEnd, { kind: 'open' }> | null = null
  /** The newest step whose function was called; null: none. */
  lastRead: string | null = null
  readonly live: LiveReads
  readonly #parts: StubParts
  readonly #turns: Turns
  /** The first step of each list. */
  readonly #lists = new WeakMap<object, string>()
  #asked = 0
  /** Step of the effect that the newest outcome comes from, or comes after. */
  #after: string | null = null

  constructor(parts: StubParts) {
    this.#parts = parts
    this.live = parts.live
    this.#turns = new Turns({ ...parts, isOpen: () => this.open !== null })
  }

  /** True while a step waits for its answer. */
  get isAnswering(): boolean {
    return this.#asked > 0
  }

  async answer(step: Checkpoint, about: StubFacts): Promise<StubOutcome | null> {
    this.#asked += 1
    try {
      return await this.#answer(step, about)
    } finally {
      this.#asked -= 1
    }
  }

  async #answer(step: Checkpoint, about: StubFacts): Promise<StubOutcome | null> {
    const after = this.#after
    const noted = this.#note(step, about)
    let given: Answer | null
    this.#parts.parking.enterStep()
    try {
      given = await this.#parts.answerStep(step, about)
    } catch (error) {
      return this.#endOpen(step, `it cannot be answered: ${describeError(error).message}`)
    } finally {
      this.#parts.parking.leaveStep()
    }
    if (given === null) return this.#endOpen(step, describeOpen(step))
    const { source, from, outcome, number, seen = null } = given
    noted.source = source
    if (from !== undefined) noted.from = from
    if (outcome === null) {
      this.lastRead = step.key
      return null
    }
    if ('outcome' in noted && step.effect === 'delete') {
      noted.outcome = readOutcome(outcome)
      noted.asked ??= seen
    }
    await this.#turns.wait(outcome.finishedAt ?? this.#parts.clock.now(), number)
    // Until the next outcome, all that the code asks for follows from this one.
    this.#after = 'outcome' in noted ? step.key : after
    if ('outcome' in noted) noted.begunBefore = this.effects.length
    return outcome
  }

  /** Adds the findings of a run that the step `key` invokes. */
  adopt(key: string, { effects, others }: Pick<Previewed, 'effects' | 'others'>): void {
    const within = (step: string) => `${key} › ${step}`
    const begun = this.effects.length
    const adopted = effects.map(({ step, list, after, begunBefore, ...effect }) => ({
      ...effect,
      step: within(step),
      list: list && within(list),
      after: after && within(after),
      begunBefore: begunBefore && begun + begunBefore,
    }))
    this.effects.push(...adopted)
    this.others.push(...others.map((each) => ({ ...each, step: within(each.step) })))
  }

  #note(step: Checkpoint, about: StubFacts): PreviewedStep | PreviewedEffect {
    const { key, kind, target, dueAt } = step
    const noted: PreviewedStep = { step: key, kind, target, source: 'none', dueAt }
    const effect = describeEffect(step, about)
    if (effect === null) {
      this.others.push(noted)
      return noted
    }
    const previewed: PreviewedEffect = {
      ...noted,
      ...effect,
      operation: stepNameOf(key),
      list: this.#nameList(about.effect?.list, key),
      outcome: null,
      after: this.#after,
      begunBefore: null,
    }
    this.effects.push(previewed)
    return previewed
  }

  #nameList(list: object | undefined, key: string): string | null {
    if (list === undefined) return null
    const first = this.#lists.get(list) ?? key
    this.#lists.set(list, first)
    return first
  }

  endLate(step: Checkpoint): Promise<never> {
    return this.#endOpen(
      step,
      `it did not end within ${this.live.longestMs / 1_000} s, which is the most for a preview`,
    )
  }

  async #endOpen(step: Checkpoint, reason: string): Promise<never> {
    this.open ??= { kind: 'open', step: step.key, reason }
    await this.#turns.standstill()
    await this.#parts.parking.wait(step, null, UNANSWERED)
    return neverSettles()
  }
}

type Described = Pick<PreviewedEffect, 'class' | 'asked' | 'expect' | 'listed' | 'isFolderAllowed' | 'body' | 'target'>

/** Null for a step that does nothing outside. */
function describeEffect(step: Checkpoint, { send, invoke, approve, effect, schedule }: StubFacts): Described | null {
  const none = { asked: null, expect: null, listed: [], isFolderAllowed: false, target: step.target }
  if (send) return { ...none, class: 'send', body: JSON.stringify(JSON.parse(send.body).data) }
  if (invoke) return { ...none, class: 'invoke', target: invoke.workflow, body: invoke.input }
  if (approve) return { ...none, class: 'approve', body: JSON.stringify({ ask: approve.ask, show: approve.show }) }
  if (step.kind === 'schedule') {
    const { workflow = null, plan = null, input = null } = schedule ?? {}
    return { ...none, class: 'write', body: JSON.stringify({ workflow, plan, input: JSON.parse(input ?? 'null') }) }
  }
  if (step.kind !== 'run' || step.effect === 'read') return null
  const { asked = null, expect = null, listed = [], isFolderAllowed = false } = effect ?? {}
  return { class: step.effect, target: step.target, asked, expect, listed, isFolderAllowed, body: null }
}

function readOutcome({ status, output, error }: StubOutcome): string | null {
  if (status === 'failed') return `failed: ${error?.message}`
  return output === null ? null : (JSON.parse(output)?.outcome ?? null)
}

const MISSING: Partial<Record<Checkpoint['kind'], string>> = {
  wait: 'no event answers it',
  receive: 'no event answers it',
  approve: 'people have not decided it',
  invoke: 'no run answers it',
}

function describeOpen({ kind, effect }: Checkpoint): string {
  const known = MISSING[kind]
  if (known !== undefined) return known
  return effect === 'read' ? 'no recorded answer to this read' : 'its result is not known without doing it'
}
