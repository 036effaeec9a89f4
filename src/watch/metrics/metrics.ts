import type { Registry } from 'prom-client'
import { UpshotError } from '../../core/errors.ts'
import { matchType } from '../../core/incoming/event.ts'
import type { Notice } from '../../core/notices.ts'
import type { ReadStore } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import type { Exposition } from './expose.ts'
import type { Family, Labels } from './families.ts'
import { NO_ENDPOINT, NoticeCounts } from './notice-counts.ts'
import { counter, type GaugeSources, gauge, readOwnGauges, readStoreGauges } from './read-gauges.ts'

/** Labels of calls of the Files API, and of requests to the admin API. */
export interface KnownLabels {
  fileOperations: readonly string[]
  fileOutcomes: readonly string[]
  adminOperations: readonly string[]
}

/** First digits of the status of an answer. */
const STATUS_DIGITS = [2, 4, 5]

export interface MetricsParts extends GaugeSources {
  store: Pick<ReadStore, 'listEndpointNames' | 'listWorkflows' | 'listRoutes' | 'listSchedules' | 'listEndpointUses'>
  clock: Clock
  /** The parts of the app in this process, which decide about series that start with 0. */
  plan: { receive: boolean; work: boolean; schedule: boolean }
  /** Spans that were not sent. */
  spansDropped: () => number
  /** Rules of the project's limits; empty where the guard is off. */
  guardRules: readonly string[]
  /** Labels that are known beforehand; the first scrape asks for them. */
  readKnown: () => Promise<KnownLabels>
  alerts: readonly { rule: string; channel: string }[]
}

/** Cron lines of modules whose last ticks are known at the start. */
const MAX_LINES = 1_000

/** Everything behind `/metrics`. Counting is cheap; the rest of the work is done by a scrape. */
export class Metrics {
  readonly counts: NoticeCounts
  readonly #parts: MetricsParts
  #process: Registry | null = null
  #hasReadLedger = false
  #hasBegun = false
  /** As they were read last. */
  #names: EndpointNames = new Map()

  constructor(parts: MetricsParts) {
    this.#parts = parts
    this.counts = new NoticeCounts(parts.clock)
  }

  /** To be called with every notice. */
  count(notice: Notice): void {
    this.counts.count(notice)
  }

  /** `accept`: the header of the request. */
  async scrape(accept: string): Promise<Exposition> {
    await this.#beginLabels()
    const { names, gauges } = await this.#readStore()
    const own = await readOwnGauges(this.#parts)
    // Loaded by the first scrape: an app that nobody scrapes does without prom-client.
    const { collectProcess, expose } = await import('./expose.ts')
    this.#process ??= collectProcess()
    const counted = this.counts.book.families.map((family) => withNames(family, names))
    return expose([...own, ...gauges, ...this.#describeState(names), ...counted], this.#process, accept)
  }

  /** Without its gauges while the database is away: the counts tell most then. */
  async #readStore(): Promise<{ names: EndpointNames; gauges: Family[] }> {
    try {
      this.#names = await this.#nameEndpoints()
      await this.#beginKnown()
      return { names: this.#names, gauges: await readStoreGauges(this.#parts) }
    } catch (error) {
      if (!(error instanceof UpshotError) || error.code !== 'store_unavailable') throw error
      // An id is no label: an endpoint whose name is not known has to wait.
      const ids = [...this.counts.endpoints.keys()].filter((id) => id !== NO_ENDPOINT)
      return { names: new Map(ids.map((id) => [id, this.#names.get(id) ?? null])), gauges: [] }
    }
  }

  /** Names of endpoints by id; null for a removed one, whose name another one may have now. */
  async #nameEndpoints(): Promise<EndpointNames> {
    const endpoints = await this.#parts.store.listEndpointNames()
    return new Map(endpoints.map(({ id, name, removedAt }) => [id, removedAt === null ? name : null]))
  }

  /** Makes the series whose labels are known: one that began at 1 would show no increase. */
  async #beginKnown(): Promise<void> {
    const { plan, alerts } = this.#parts
    if (plan.receive) await this.#beginReceived()
    if (plan.work) await this.#beginWork()
    if (plan.schedule) {
      for (const { rule, channel } of alerts) this.counts.alert(rule, channel)
      await this.#beginSchedules()
    }
  }

  async #beginReceived(): Promise<void> {
    const { store } = this.#parts
    this.counts.endpoint(NO_ENDPOINT)
    for (const { id, removedAt } of await store.listEndpointNames()) if (removedAt === null) this.counts.endpoint(id)
    for (const { eventType } of (await store.listRoutes()) ?? []) {
      if (!matchType(eventType, eventType) || eventType.includes('*')) continue
      for (const origin of ['webhook', 'send'] as const) this.counts.eventType(eventType, origin)
    }
    await this.#readLedger()
  }

  async #beginWork(): Promise<void> {
    const { store, guardRules, fileLimits } = this.#parts
    for (const { id } of await store.listWorkflows()) {
      this.counts.workflow(id)
      for (const rule of guardRules) this.counts.held(id, rule)
    }
    for (const { account } of fileLimits()) this.counts.limitWait(account)
  }

  /** Once: what no workflow or endpoint adds to. Times of admin requests begin with the first. */
  async #beginLabels(): Promise<void> {
    if (this.#hasBegun) return
    const { fileOperations, fileOutcomes, adminOperations } = await this.#parts.readKnown()
    if (this.#parts.plan.work) {
      for (const operation of fileOperations) {
        this.counts.callTime(operation)
        for (const outcome of fileOutcomes) this.counts.call(operation, outcome)
      }
    }
    for (const operation of adminOperations) for (const digit of STATUS_DIGITS) this.counts.request(operation, digit)
    this.#hasBegun = true
  }

  async #beginSchedules(): Promise<void> {
    const lines = await this.#parts.store.listSchedules({ limit: MAX_LINES, owner: 'module' })
    for (const { name: workflow, lastTickAt } of lines) {
      this.counts.tick(workflow)
      if (lastTickAt === null) continue
      const known = this.counts.lastTicks.get(workflow) ?? 0
      this.counts.lastTicks.set(workflow, Math.max(known, lastTickAt))
    }
  }

  /** Once: the last successes before this process began. */
  async #readLedger(): Promise<void> {
    if (this.#hasReadLedger) return
    const { store } = this.#parts
    for (const { endpointId, lastUsedAt } of await store.listEndpointUses()) {
      const state = this.counts.endpoint(endpointId)
      state.lastSuccessAt = Math.max(state.lastSuccessAt ?? 0, lastUsedAt)
    }
    this.#hasReadLedger = true
  }

  #describeState(names: EndpointNames): Family[] {
    const { anchoredAt, book, endpoints, lastTicks } = this.counts
    const states = [...endpoints].filter(([id]) => id !== NO_ENDPOINT && names.get(id) !== null)
    const labelsOf = (id: string): Labels => ({ endpoint: names.get(id) ?? id })
    const suspects = states.map(([id, { isSuspect }]) => ({ labels: labelsOf(id), value: Number(isSuspect) }))
    const successes = states.flatMap(([id, { lastSuccessAt }]) =>
      lastSuccessAt === null ? [] : [{ labels: labelsOf(id), value: lastSuccessAt / 1_000 }],
    )
    const ticks = [...lastTicks].map(([workflow, at]) => ({ labels: { workflow }, value: at / 1_000 }))
    const anchors = anchoredAt === null ? [] : [{ labels: {}, value: anchoredAt / 1_000 }]
    return [
      gauge('upshot_ledger_anchor_timestamp_seconds', 'When this process last anchored the effect ledger.', anchors),
      gauge('upshot_endpoint_suspect', '1 while signatures fail since the last success.', suspects),
      gauge('upshot_endpoint_last_success_timestamp_seconds', 'When the endpoint last took a delivery.', successes),
      gauge('upshot_schedule_last_tick_timestamp_seconds', 'The latest recorded moment of a schedule.', ticks),
      counter('upshot_metrics_series_dropped_total', 'Times that a label became "other".', book.dropped),
      counter('upshot_spans_dropped_total', 'Spans that were not sent.', this.#parts.spansDropped()),
    ]
  }
}

type EndpointNames = ReadonlyMap<string, string | null>

/** The family with names of endpoints for their ids, and without removed ones. */
function withNames(family: Family, names: EndpointNames): Family {
  if (!family.series.some(({ labels }) => 'endpoint' in labels)) return family
  const isThere = ({ labels: { endpoint = '' } }: { labels: Labels }) => names.get(endpoint) !== null
  const rename = <T extends { labels: Labels }>(one: T): T => {
    const { endpoint = '' } = one.labels
    return { ...one, labels: { ...one.labels, endpoint: names.get(endpoint) ?? endpoint } }
  }
  return { ...family, series: family.series.filter(isThere).map((one) => rename(one as never)) } as Family
}
