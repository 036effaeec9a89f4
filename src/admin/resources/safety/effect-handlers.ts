import { UpshotError } from '../../../core/errors.ts'
import type { EffectRecord } from '../../../core/safety/effect.ts'
import { describeScope, presentMode } from '../../../core/safety/stop.ts'
import { findUseLimit, suggestLimits } from '../../../core/safety/suggest-limits.ts'
import type { EffectFilter } from '../../../core/store/effects.ts'
import { listSwitches } from '../../../core/store/list-switches.ts'
import { searchSlices } from '../../../core/store/search.ts'
import type { ListReads, ReadStore } from '../../../core/store/store.ts'
import { isoTime } from '../../../core/time.ts'
import type { Caller } from '../../access/caller.ts'
import type { EFFECT_ROUTES } from '../../contract/resources/safety/effects.ts'
import type { Call, Handlers } from '../../perform/handler.ts'
import { readPage } from '../../queries/read-page.ts'
import { given, readMoment } from '../../queries/read-query.ts'
import { findRun } from '../../queries/require-row.ts'
import { describeEffect, seesPayloads, writeMasked } from '../../views/run-view.ts'
import type { ResourceParts } from '../parts.ts'

/** Rows of the ledger that an export reads at once. */
const PAGE = 1_000
/** Rows of one read for a count. */
const MANY = 5_000
/** Rows that are read for one file. */
const MAX_OF_FILE = 1_000

type EffectRoute = keyof typeof EFFECT_ROUTES
type EffectAction = Extract<EffectRoute, `POST ${string}`>

/** The effect ledger, the guard's counters, and the switch that stops effects. */
export function effectHandlers(parts: ResourceParts): Handlers<EffectRoute> {
  return { ...effectReads(parts), ...effectActions(parts) }
}

function effectReads(parts: ResourceParts): Handlers<Exclude<EffectRoute, EffectAction>> {
  const { store, openLists } = parts
  return {
    async 'GET /effects'({ query, caller, signal, now }) {
      const filter = await readFilter(store, query, { caller, now })
      const lists = await openLists()
      const page = await readPage(
        { query, signal, position: /^\d{1,16}_\d{1,16}$/ },
        (slice) => lists.searchEffects(filter, slice),
        (rows) => rows.map((row) => describeEffect(row, caller)),
      )
      return { ...page, mode: presentMode(await listSwitches(store)) }
    },
    async 'GET /effects/export'({ query, caller, now, signal }) {
      const chunks = readLedger(await openLists(), {
        caller,
        signal,
        filter: await readFilter(store, query, { caller, now }),
      })
      return { type: 'application/x-ndjson', name: 'effects.ndjson', size: null, chunks }
    },
    async 'GET /effects/of-file'({ query, caller, now }) {
      const rows = await listOfFile(store, query.file)
      if (rows.length === 0) {
        throw new UpshotError('not_found', `The ledger has no effect on ${query.file}.`, {
          fix: 'A delete is found by the path that its run saw, and by its target: storage_a:<id>.',
        })
      }
      return { items: await Promise.all(rows.map((row) => describeWithVotes(store, row, { caller, now }))) }
    },
    async 'GET /effects/:seq'({ params, caller, now }) {
      const seq = /^\d{1,9}$/.test(params.seq) ? Number(params.seq) : 0
      const [row] = await store.listEffects({ after: seq - 1, limit: 1 })
      if (row?.seq !== seq) {
        throw new UpshotError('not_found', `The ledger has no row ${params.seq}.`, {
          fix: 'List its rows with "upshot effects list"; retention may have removed it.',
        })
      }
      const { head } = await store.readSealState()
      return { ...(await describeWithVotes(store, row, { caller, now })), isSealed: seq <= (head?.last ?? 0) }
    },
    'GET /guard': ({ now }) => describeGuard(parts, now),
    async 'GET /guard/suggestions'({ query, now }) {
      const filter = given({
        since: readMoment(query.since, now),
        phases: ['begun'] as const,
        class: 'delete' as const,
      })
      return { items: suggestLimits(await readWhole(await openLists(), filter)) }
    },
  }
}

function effectActions(parts: ResourceParts): Handlers<EffectAction> {
  const { store, surroundings } = parts
  return {
    async 'POST /effects/anchor'({ body, record }) {
      const anchor = await surroundings.takeAnchor(body.isDryRun)
      if (anchor === null) {
        const fix = 'Run it again once a workflow has deleted or written something.'
        throw new UpshotError('not_found', 'The effect ledger has no row yet, so there is nothing to anchor.', { fix })
      }
      if (!body.isDryRun) await record(null, { seal: anchor.seal }, 'done')
      return { ...anchor, at: isoTime(anchor.at) }
    },
    async 'POST /effects/verify'({ body, record, ...work }) {
      await record(null)
      return surroundings.verifyLedger(body.anchors ?? null, work)
    },
    async 'POST /effects/restored'({ body, operator: { actor }, writes, now }) {
      const { number } = await writes.noteRestored({ actor, reason: body.reason, now })
      return { seal: number }
    },
    async 'POST /effects/stop'({ body, operator: { actor }, writes, now }) {
      const { kind, reason } = body
      const stop = { kind, name: nameOf(body), actor, reason, since: now }
      await writes.stopEffects(stop)
      return describeGuard(parts, now)
    },
    async 'POST /effects/resume'({ body, operator, writes, now }) {
      const scope = { kind: body.kind, name: nameOf(body) }
      const woken = await writes.resumeEffects(scope, { ...operator, now })
      if (woken === null) {
        const known = (await store.listStops()).map(describeScope).join(', ')
        throw new UpshotError('not_found', `No stop of ${describeScope(scope)} is in force.`, {
          fix: known === '' ? 'Nothing is stopped.' : `In force: ${known}.`,
        })
      }
      return { ...(await describeGuard(parts, now)), woken }
    },
  }
}

/** The name of a scope. Throws `invalid_request` where one is missing, or there for everything. */
function nameOf({ kind, name }: { kind: 'all' | 'workflow' | 'account' | 'storage'; name: string }): string {
  if ((kind === 'all') === (name === '')) return name
  const message = kind === 'all' ? 'A stop of everything has no name.' : `Name the ${kind}.`
  throw new UpshotError('invalid_request', message, { details: { faults: [{ at: 'name', fault: message }] } })
}

async function describeGuard({ store, surroundings }: ResourceParts, now: number) {
  const guard = surroundings.guard()
  const stops = await store.listStops()
  return {
    isOn: guard !== null,
    woken: 0,
    use: (await store.listGuardUse(now)).map((each) => ({ ...each, limit: findUseLimit(guard, each) })),
    stops: stops.map(({ since, ...stop }) => ({ ...stop, since: isoTime(since) })),
  }
}

/** A row with the words of people under which it began. */
async function describeWithVotes(
  store: Pick<ReadStore, 'findApproval'>,
  row: EffectRecord,
  { caller, now }: { caller: Caller; now: number },
) {
  const votes = row.approval === null ? [] : ((await store.findApproval(row.approval, now))?.votes ?? [])
  const words = votes.map(({ actor, verdict, reason }) => ({ actor, verdict, reason }))
  return { ...describeEffect(row, caller), votes: words }
}

/** Rows of a target; of a path, all rows of the targets that had it. Oldest first. */
async function listOfFile(store: Pick<ReadStore, 'listEffects'>, file: string): Promise<EffectRecord[]> {
  const [, path] = /^(?:storage_[abc]:)?(\/.*)$/s.exec(file) ?? []
  const byTarget = await store.listEffects({ target: file, limit: MAX_OF_FILE })
  const byPath = path === undefined ? [] : await store.listEffects({ path, limit: MAX_OF_FILE })
  const rows = new Map([...byTarget, ...byPath].map((row) => [row.seq, row]))
  for (const target of new Set(byPath.map((row) => row.target))) {
    if (target === null) continue
    for (const row of await store.listEffects({ target, limit: MAX_OF_FILE })) rows.set(row.seq, row)
  }
  return [...rows.values()].sort((one, other) => one.seq - other.seq)
}

/** Only the parts that count are kept, so that memory stays small. */
async function readWhole(lists: Pick<ListReads, 'searchEffects'>, filter: EffectFilter) {
  const found: Pick<EffectRecord, 'at' | 'workflow' | 'runId'>[] = []
  for await (const rows of searchSlices((slice) => lists.searchEffects(filter, slice), { rows: MANY, limit: MANY })) {
    for (const { at, workflow, runId } of rows) found.push({ at, workflow, runId })
  }
  return found
}

interface LedgerParts {
  caller: Caller
  signal: AbortSignal
  filter: EffectFilter
}

/** The rows as lines of JSON, oldest first, a page at a time. */
async function* readLedger(lists: ListReads, { caller, signal, filter }: LedgerParts): AsyncGenerator<string> {
  for (let beyond: EffectRecord | null = null; !signal.aborted; ) {
    const rows: EffectRecord[] = await lists.pageEffects({ ...filter, beyond, limit: PAGE })
    if (rows.length > 0) yield rows.map((row) => writeMasked(describeEffect(row, caller))).join('')
    if (rows.length < PAGE) return
    beyond = rows.at(-1) ?? beyond
  }
}

type EffectQuery = Omit<Call<'GET /effects'>['query'], 'limit' | 'after'>

/** The filter of a query. A viewer sees no path, so that it may not ask for one either. */
async function readFilter(
  store: Pick<ReadStore, 'findRun' | 'listRunIds'>,
  query: EffectQuery,
  { caller, now }: { caller: Caller; now: number },
): Promise<EffectFilter> {
  const { since, until, run, path, target, workflow, account, outcome } = query
  if (path !== undefined && !seesPayloads(caller)) {
    throw new UpshotError('forbidden', 'A path is part of the payload, which a viewer may not see. Search by `target`.')
  }
  const moments = { since: readMoment(since, now), until: readMoment(until, now) }
  // The ledger also knows runs that are pruned.
  const runId = run === undefined ? undefined : ((await findRun(store, run))?.id ?? run)
  return given({ target, workflow, account, outcome, class: query.class, path, runId, ...moments })
}
