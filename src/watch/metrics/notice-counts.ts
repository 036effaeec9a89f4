import { VERDICTS, type Verdict } from '../../core/incoming/delivery.ts'
import type { Notice, NoticeKind, NoticeOf } from '../../core/notices.ts'
import type { Clock } from '../../core/time.ts'
import type { Count, Spread } from './families.ts'
import { CALL, DELAY, FAST, LONG, observe } from './observe.ts'
import { SeriesBook } from './series-book.ts'
import { each, openWorkflowSeries, type Park, type WorkflowSeries } from './workflow-series.ts'

/** The state of an endpoint, which gauges show at a scrape. */
interface EndpointState {
  verdicts: Record<Verdict, Count>
  isSuspect: boolean
  /** Epoch milliseconds; null: none since the start of this process. */
  lastSuccessAt: number | null
}

type Handlers = { [Kind in NoticeKind]?: (notice: NoticeOf<Kind>) => void }

const TAKEN: ReadonlySet<Verdict> = new Set(['accepted', 'duplicate', 'conflict'])
/** Label of deliveries whose endpoint is not known. */
export const NO_ENDPOINT = 'none'

/** Counts notices in plain numbers: at most 1.5 µs for a run of three steps. See decision 49. */
export class NoticeCounts {
  readonly book = new SeriesBook()
  /** By the endpoint's id. */
  readonly endpoints = new Map<string, EndpointState>()
  /** The latest recorded moment of each schedule, in epoch milliseconds. */
  readonly lastTicks = new Map<string, number>()
  /** When this process last anchored the ledger, in epoch milliseconds; null: not yet. */
  anchoredAt: number | null = null
  readonly workflow: (id: string) => WorkflowSeries
  readonly #clock: Clock
  /** Series of types within the bound, as {@link endpoints} has those of endpoints. */
  readonly #types = { webhook: new Map<string, Count>(), send: new Map<string, Count>() }
  readonly #families
  readonly #handlers: Handlers

  constructor(clock: Clock) {
    this.#clock = clock
    this.workflow = openWorkflowSeries(this.book)
    this.#families = defineFamilies(this.book)
    this.#handlers = this.#listHandlers()
  }

  count(notice: Notice): void {
    const handle = this.#handlers[notice.kind] as ((notice: Notice) => void) | undefined
    handle?.(notice)
  }

  endpoint(id: string): EndpointState {
    const known = this.endpoints.get(id)
    if (known) return known
    const endpoint = this.book.bounded('endpoint', id)
    const verdicts = each(Object.keys(VERDICTS) as Verdict[], (verdict) =>
      this.#families.deliveries({ endpoint, verdict }),
    )
    const made = { verdicts, isSuspect: false, lastSuccessAt: null }
    if (endpoint === id) this.endpoints.set(id, made)
    return made
  }

  eventType(type: string, origin: 'webhook' | 'send'): Count {
    const known = this.#types[origin].get(type)
    if (known) return known
    const label = this.book.bounded('type', type)
    const made = this.#families.events({ type: label, origin })
    if (label === type) this.#types[origin].set(type, made)
    return made
  }

  tick(workflow: string): { recorded: Count; missed: Count } {
    const labels = { workflow: this.book.bounded('workflow', workflow) }
    return { recorded: this.#families.ticks(labels), missed: this.#families.ticksMissed(labels) }
  }

  held(workflow: string, rule: string): Count {
    const labels = { workflow: this.book.bounded('workflow', workflow), rule: this.book.bounded('kind', rule) }
    return this.#families.held(labels)
  }

  call(operation: string, outcome: string): Count {
    return this.#families.calls({ operation, outcome: this.book.bounded('kind', outcome) })
  }

  callTime(operation: string): Spread {
    return this.#families.callDuration({ operation })
  }

  /** The requests to an operation of the admin API whose status begins with this digit. */
  request(operation: string, digit: number): Count {
    return this.#families.requests({ operation: this.book.bounded('operation', operation), class: `${digit}xx` })
  }

  limitWait(account: string): Count {
    return this.#families.limitWait({ account: this.book.bounded('kind', account) })
  }

  /** The series of a rule's messages to one of its channels. */
  alert(rule: string, channel: string): Record<'sent' | 'failed', Count> {
    const labels = { rule: this.book.bounded('kind', rule), channel: this.book.bounded('kind', channel) }
    return each(['sent', 'failed'], (outcome) => this.#families.alerts({ ...labels, outcome }))
  }

  #listHandlers(): Handlers {
    const { startDelay, lost, dropped, givenBack, recovered } = this.#families
    const [delay, lostRuns, recoveredRuns] = [startDelay(), lost(), recovered()]
    const [droppedPasses, givenBackLeases] = [dropped(), givenBack()]
    return {
      ...this.#listRunHandlers(delay),
      'delivery.received': (notice) => this.#countDelivery(notice),
      'endpoint.suspect': ({ endpoint }) => {
        this.endpoint(endpoint).isSuspect = true
      },
      'workflow.loaded': ({ workflow }) => void this.workflow(workflow),
      'approval.opened': ({ workflow, rule }) => {
        if (rule !== null) this.held(workflow, rule).value++
      },
      'effects.anchored': () => {
        this.anchoredAt = this.#clock.now()
      },
      ...this.#listLossHandlers(),
      'run.lost': ({ failover = false }) => void (failover ? droppedPasses : lostRuns).value++,
      'lease.given_back': () => void givenBackLeases.value++,
      'runs.recovered': ({ count }) => {
        recoveredRuns.value += count
      },
      'tick.recorded': (notice) => this.#countTick(notice),
      'ticks.missed': ({ workflow, count }) => {
        this.tick(workflow).missed.value += count
      },
      'files.called': (notice) => this.#countCall(notice),
      'admin.answered': (notice) => this.#countRequest(notice),
      'alert.sent': ({ rule, channel, error }) =>
        void this.alert(rule, channel)[error === null ? 'sent' : 'failed'].value++,
      fault: ({ where }) => void this.#families.faults({ where: this.book.bounded('kind', nameFault(where)) }).value++,
    }
  }

  #listLossHandlers(): Handlers {
    const { eventsMissing, eventsMadeUp } = this.#families
    const [missingEvents, madeUpEvents] = [eventsMissing(), eventsMadeUp()]
    return {
      'sweep.ended': ({ missing }) => {
        missingEvents.value += missing
      },
      'event.made_up': () => void madeUpEvents.value++,
    }
  }

  #listRunHandlers(delay: Spread): Handlers {
    return {
      'run.started': ({ workflow, origin, waitedMs, root }) => {
        this.workflow(workflow).started[origin].value++
        observe(delay, DELAY, waitedMs / 1_000, this.#exampleOf(root))
      },
      'run.completed': (notice) => this.#countEnd(notice, 'completed'),
      'run.failed': (notice) => this.#countEnd(notice, 'failed'),
      'run.canceled': (notice) => this.#countEnd(notice, 'canceled'),
      'run.skipped': (notice) => this.#countEnd(notice, 'skipped'),
      'run.planned': (notice) => this.#countEnd(notice, 'planned'),
      'run.parked': (notice) => void this.workflow(notice.workflow).parked[reasonOf(notice)].value++,
      'run.limited': ({ workflow }) => void this.workflow(workflow).parked.turn.value++,
      'run.retried': ({ workflow }) => void this.workflow(workflow).retried.value++,
      'step.completed': ({ workflow, effect, ms, root, sent, target }) => {
        const series = this.workflow(workflow)
        series.steps.completed.value++
        if (effect !== 'read') series.effects[effect].value++
        observe(series.stepDuration(effect), LONG, ms / 1_000, this.#exampleOf(root))
        if (sent !== undefined) this.eventType(target ?? '', 'send').value++
      },
      'step.failed': ({ workflow, effect, ms, retryAt }) => {
        const series = this.workflow(workflow)
        series.steps[retryAt === null ? 'failed' : 'retried'].value++
        observe(series.stepDuration(effect), LONG, ms / 1_000)
      },
    }
  }

  #countDelivery({ endpoint, verdict, type, account, event, ms }: NoticeOf<'delivery.received'>): void {
    const state = this.endpoint(endpoint ?? NO_ENDPOINT)
    const now = this.#clock.now()
    state.verdicts[verdict].value++
    const isTaken = TAKEN.has(verdict)
    if (isTaken) {
      state.isSuspect = false
      state.lastSuccessAt = now
    }
    if (verdict === 'accepted' && type !== null) this.eventType(type, 'webhook').value++
    const example =
      account === null || event === null ? undefined : { root: { kind: 'event', account, event } as const, at: now }
    observe(isTaken ? this.#families.taken : this.#families.refused, FAST, ms / 1_000, example)
  }

  #countEnd(notice: NoticeOf<`run.${RunEndOf}`>, end: RunEndOf): void {
    const series = this.workflow(notice.workflow)
    series.ended[end].value++
    if (notice.ms !== null) observe(series.duration, LONG, notice.ms / 1_000, this.#exampleOf(notice.root))
  }

  #countTick({ workflow, scheduledFor }: NoticeOf<'tick.recorded'>): void {
    this.tick(workflow).recorded.value++
    this.lastTicks.set(workflow, Math.max(scheduledFor, this.lastTicks.get(workflow) ?? 0))
    observe(this.#families.lateness, DELAY, Math.max(0, this.#clock.now() - scheduledFor) / 1_000)
  }

  #countCall({ operation, outcome, account, ms, waitedMs, caller }: NoticeOf<'files.called'>): void {
    this.call(operation, outcome).value++
    observe(this.callTime(operation), CALL, ms / 1_000, this.#exampleOf(caller?.root ?? null))
    this.limitWait(account).value += Math.max(0, waitedMs) / 1_000
  }

  #countRequest({ operation: given, status, ms }: NoticeOf<'admin.answered'>): void {
    this.request(given, Math.floor(status / 100)).value++
    const operation = this.book.bounded('operation', given)
    observe(this.#families.requestDuration({ operation }), FAST, ms / 1_000)
  }

  #exampleOf(root: NoticeOf<'run.started'>['root']) {
    return root === null ? undefined : { root, at: this.#clock.now() }
  }
}

type RunEndOf = keyof WorkflowSeries['ended']

function reasonOf({ dueAt, awaits }: NoticeOf<'run.parked'>): Park {
  if (awaits !== null) return awaits === 'people' ? 'approval' : 'event'
  return dueAt === null ? 'person' : 'time'
}

/** The part of the program that a fault names, without the ids and names in it. */
function nameFault(where: string): string {
  const words = where.split(' ').filter((word) => !/^["/]|_/.test(word))
  return /^schedule of /.test(where) ? 'schedule' : words.join(' ').slice(0, 60)
}

function defineFamilies(book: SeriesBook) {
  const deliveryDuration = book.histogram(
    'upshot_delivery_duration_seconds',
    'Time from the headers of a delivery to its answer.',
    FAST,
  )
  return {
    deliveries: book.counter('upshot_deliveries_total', 'Requests to endpoints, by verdict.'),
    taken: deliveryDuration({ outcome: 'taken' }),
    refused: deliveryDuration({ outcome: 'refused' }),
    events: book.counter('upshot_events_total', 'New events, by how they came.'),
    startDelay: book.histogram(
      'upshot_run_start_delay_seconds',
      'Time from a run’s making to its first line of code.',
      DELAY,
    ),
    lost: book.counter('upshot_runs_lost_total', 'Passes whose run another worker or a person took.'),
    dropped: book.counter(
      'upshot_passes_dropped_total',
      'Passes that ended because the database had failed over since their claim.',
    ),
    givenBack: book.counter(
      'upshot_leases_given_back_total',
      'Runs given back, as the answer to their claim was lost.',
    ),
    recovered: book.counter('upshot_runs_recovered_total', 'Runs of dead workers that are pending again.'),
    ticks: book.counter('upshot_ticks_total', 'Recorded ticks.'),
    ticksMissed: book.counter('upshot_ticks_missed_total', 'Moments without a run, because no scheduler ran.'),
    lateness: book.histogram('upshot_tick_lateness_seconds', 'Time from a due moment to its recording.', DELAY)(),
    calls: book.counter('upshot_files_calls_total', 'Calls of the Files API, by outcome.'),
    callDuration: book.histogram('upshot_files_call_duration_seconds', 'Time that a call took, waits included.', CALL),
    limitWait: book.counter(
      'upshot_files_limit_wait_seconds_total',
      'Time that calls waited for the limit or to be sent again.',
    ),
    held: book.counter('upshot_guard_held_total', 'Approvals that the guard opened, by the rule that was too small.'),
    eventsMissing: book.counter('upshot_events_missing_total', 'Lost events that sweeps of storages found.'),
    eventsMadeUp: book.counter('upshot_events_made_up_total', 'Lost events that were made up.'),
    alerts: book.counter('upshot_alerts_sent_total', 'Alerts by rule, channel and outcome.'),
    requests: book.counter('upshot_admin_requests_total', 'Requests to the admin API, by class of status.'),
    requestDuration: book.histogram('upshot_admin_request_duration_seconds', 'Time to the end of an answer.', FAST),
    faults: book.counter('upshot_faults_total', 'Faults of the app, by the part that had them.'),
  }
}
