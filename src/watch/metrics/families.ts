import type { RunRoot } from '../../core/runs/trace.ts'

export type Labels = Readonly<Record<string, string>>

/** One series of a counter: a plain number, so that a count costs next to nothing. */
export interface Count {
  readonly labels: Labels
  value: number
}

export interface Spread {
  readonly labels: Labels
  /** Observations per bucket; the last one lies beyond all bounds. */
  readonly counts: number[]
  sum: number
  /** The last observation that belongs to a trace; null: none yet. */
  example: { bucket: number; value: number; at: number; root: RunRoot } | null
}

/** A value of a gauge at the time of a scrape. */
export interface Reading {
  labels: Labels
  value: number
}

interface Named {
  name: string
  help: string
}

export interface CounterFamily extends Named {
  kind: 'counter'
  series: readonly Reading[]
}

export interface GaugeFamily extends Named {
  kind: 'gauge'
  series: readonly Reading[]
}

export interface HistogramFamily extends Named {
  kind: 'histogram'
  /** Upper bounds of the buckets, ascending. */
  bounds: readonly number[]
  series: readonly Pick<Spread, 'labels' | 'counts' | 'sum' | 'example'>[]
}

export type Family = CounterFamily | GaugeFamily | HistogramFamily
