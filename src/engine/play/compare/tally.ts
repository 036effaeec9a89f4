import { type Change, type Group, OTHERS, SAMPLES, type Sample, type Unknown } from '../../../core/safety/difference.ts'
import { type Comparison, describeChange } from './compare-sides.ts'

/** Groups, after which all others are one, so that memory has a bound. */
const MAX_GROUPS = 1_000

/** Counts verdicts in groups. */
export class Tally {
  same = 0
  readonly #groups = new Map<string, Group>()
  readonly #unknown = new Map<string, Unknown>()

  add(sample: Sample, verdict: Comparison): void {
    if (verdict.kind === 'same') this.same += 1
    else if (verdict.kind === 'differs') this.#addChanges(sample, verdict.changes)
    else this.#addUnknown(sample, verdict.question)
  }

  /** Largest first. */
  get groups(): Group[] {
    return [...this.#groups.values()].sort(byCount)
  }

  /** Largest first. */
  get unknown(): Unknown[] {
    return [...this.#unknown.values()].sort(byCount)
  }

  #addChanges(sample: Sample, changes: readonly Change[]): void {
    const key = changes.map(describeChange).join('; ')
    const at = this.#groups.has(key) || this.#groups.size < MAX_GROUPS ? key : OTHERS
    const group = this.#groups.get(at) ?? {
      ...{ key: at, count: 0, bytes: 0, samples: [] },
      changes:
        at === OTHERS ? [] : changes.map(({ bytes: _, ...change }) => ({ ...change, text: describeChange(change) })),
    }
    this.#groups.set(at, group)
    group.count += 1
    group.bytes += sum(changes.filter(({ sign, class: kind }) => kind === 'delete' && sign !== '~'))
    note(group.samples, sample)
  }

  #addUnknown(sample: Sample, question: string): void {
    const at = this.#unknown.has(question) || this.#unknown.size < MAX_GROUPS ? question : OTHERS
    const unknown = this.#unknown.get(at) ?? { question: at, count: 0, samples: [] }
    this.#unknown.set(at, unknown)
    unknown.count += 1
    note(unknown.samples, sample)
  }
}

function note(samples: Sample[], sample: Sample): void {
  if (samples.length < SAMPLES) samples.push(sample)
}

function sum(changes: readonly Change[]): number {
  return changes.reduce((total, { bytes }) => total + bytes, 0)
}

function byCount(one: { count: number }, other: { count: number }): number {
  return other.count - one.count
}
