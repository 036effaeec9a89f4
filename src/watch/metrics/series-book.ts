import type { Count, CounterFamily, HistogramFamily, Labels, Spread } from './families.ts'

/** Series of all counters and histograms; a bucket, a sum and a count are a series each. */
export const MAX_SERIES = 5_000
/** Different values of one label; later ones share the value `other`. */
export const MAX_VALUES = { workflow: 200, endpoint: 100, type: 100, operation: 200, kind: 60 } as const
/** Series that are kept for `other`, so that it has room when the rest is full. */
const RESERVED = 500

/** Stands for every value of a label that came after its bound was reached. */
const OTHER = 'other'

interface Kept<Family, Series> {
  family: Family & { series: Series[] }
  byLabels: Map<string, Series>
}

/** The counters and histograms of a process, within their bounds. */
export class SeriesBook {
  readonly #counters = new Map<string, Kept<CounterFamily, Count>>()
  readonly #histograms = new Map<string, Kept<HistogramFamily, Spread>>()
  readonly #values = new Map<keyof typeof MAX_VALUES, Set<string>>()
  #series = 0
  /** Times that something was counted as `other`. */
  dropped = 0

  get families(): readonly (CounterFamily | HistogramFamily)[] {
    return [...this.#counters.values(), ...this.#histograms.values()].map(({ family }) => family)
  }

  /** The value itself, or `other` once the label has too many. */
  bounded(label: keyof typeof MAX_VALUES, value: string): string {
    const known = this.#values.get(label) ?? new Set()
    this.#values.set(label, known)
    if (known.has(value)) return value
    if (known.size < MAX_VALUES[label] && this.#series < MAX_SERIES - RESERVED) {
      known.add(value)
      return value
    }
    this.dropped++
    return OTHER
  }

  /** Defines a counter; the result finds the series of some labels, or makes it with 0. */
  counter(name: string, help: string): (labels?: Labels) => Count {
    const kept = { family: { kind: 'counter', name, help, series: [] } as const, byLabels: new Map() }
    this.#counters.set(name, kept as never)
    return (labels = {}) => this.#find(kept as never, labels, 1, () => ({ labels, value: 0 }))
  }

  /** Defines a histogram, like `counter`. */
  histogram(name: string, help: string, bounds: readonly number[]): (labels?: Labels) => Spread {
    const kept = { family: { kind: 'histogram', name, help, bounds, series: [] } as const, byLabels: new Map() }
    this.#histograms.set(name, kept as never)
    const make = (labels: Labels): Spread => ({
      labels,
      counts: new Array(bounds.length + 1).fill(0),
      sum: 0,
      example: null,
    })
    return (labels = {}) => this.#find(kept as never, labels, bounds.length + 3, () => make(labels))
  }

  #find<Series extends Count | Spread>(
    { family, byLabels }: Kept<CounterFamily | HistogramFamily, Series>,
    labels: Labels,
    size: number,
    make: () => Series,
  ): Series {
    const key = JSON.stringify(Object.values(labels))
    const known = byLabels.get(key)
    if (known) return known
    const isOther = Object.values(labels).includes(OTHER)
    if (!isOther && this.#series + size > MAX_SERIES - RESERVED) {
      this.dropped++
      return this.#find({ family, byLabels } as never, hideValues(labels), size, () => ({
        ...make(),
        labels: hideValues(labels),
      }))
    }
    const series = make()
    byLabels.set(key, series)
    family.series.push(series as never)
    this.#series += size
    return series
  }
}

/** Labels of a few fixed values, by which the counts of `other` are told apart, too. */
const FIXED = new Set(['outcome', 'verdict', 'effect', 'origin', 'for', 'class'])

/** Labels that series share which found no room. */
function hideValues(labels: Labels): Labels {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, FIXED.has(name) ? value : OTHER]))
}
