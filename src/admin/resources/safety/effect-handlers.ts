import { once } from 'node:events'
import type { Response } from 'express'
import { UpshotError } from '../../../core/errors.ts'
import type { EffectRecord } from '../../../core/safety/effect.ts'
import { describeScope } from '../../../core/safety/stop.ts'
import { findUseLimit } from '../../../core/safety/suggest-limits.ts'
import type { ListReads } from '../../../core/store/store.ts'
import { isoTime } from '../../../core/time.ts'
import type { Caller } from '../../access/caller.ts'
import { describeOperator } from '../../access/describe-operator.ts'
import type { EFFECT_ROUTES } from '../../contract/resources/safety/effects.ts'
import type { Handlers } from '../../http/handler.ts'
import { readPage } from '../../queries/read-page.ts'
import { given, readMoment } from '../../queries/read-query.ts'
import { describeEffect } from '../../views/describe-effect.ts'
import { seesPayloads } from '../../views/run-view.ts'
import { asCaller, type ResourceParts } from '../parts.ts'

/** Rows of the ledger that an export reads at once. */
const PAGE = 1_000

/** The effect ledger, the guard's counters, and the switch that stops effects. */
export function effectHandlers(parts: ResourceParts): Handlers<keyof typeof EFFECT_ROUTES> {
  const { openLists } = parts
  return {
    async 'GET /effects'({ query, caller, signal, now }) {
      const { since, until, target, path, run, workflow } = query
      if (path !== undefined && !seesPayloads(caller)) {
        throw new UpshotError('forbidden', 'A path is payload, which a viewer does not see. Ask by `target`.')
      }
      const moments = { since: readMoment(since, now), until: readMoment(until, now) }
      const filter = given({ target, path, workflow, runId: run, ...moments })
      const lists = await openLists()
      return readPage(
        { query, signal },
        (slice) => lists.searchEffects(filter, slice),
        (rows) => rows.map((row) => describeEffect(row, caller)),
      )
    },
    async 'GET /effects/export'({ query, caller, response, now, signal }) {
      response.type('application/x-ndjson').set('Content-Disposition', 'attachment; filename="effects.ndjson"')
      await writeLedger(await openLists(), { response, caller, signal, since: readMoment(query.since, now) })
      response.end()
    },
    'GET /guard': ({ now }) => describeGuard(parts, now),
    async 'POST /effects/stop'({ body, caller, now }) {
      const { kind, reason } = body
      const { actor } = describeOperator(caller, reason)
      const stop = { kind, name: nameOf(body), actor, reason, since: now }
      await asCaller(parts, { caller, body }).stopEffects(stop)
      return describeGuard(parts, now)
    },
    async 'POST /effects/resume'({ body, caller, now }) {
      const scope = { kind: body.kind, name: nameOf(body) }
      const by = { ...describeOperator(caller, body.reason ?? null), now }
      const woken = await asCaller(parts, { caller, body }).resumeEffects(scope, by)
      if (woken === null) throw new UpshotError('not_found', `No stop of ${describeScope(scope)} is in force.`)
      return describeGuard(parts, now)
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
    use: (await store.listGuardUse(now)).map((each) => ({ ...each, limit: findUseLimit(guard, each) })),
    stops: stops.map(({ since, ...stop }) => ({ ...stop, since: isoTime(since) })),
  }
}

interface LedgerParts {
  response: Response
  caller: Caller
  signal: AbortSignal
  since: number | undefined
}

/** Reads no faster than the client takes it. */
async function writeLedger(lists: ListReads, { response, caller, signal, since }: LedgerParts) {
  for (let beyond: EffectRecord | null = null; !signal.aborted; ) {
    const rows: EffectRecord[] = await lists.pageEffects({ beyond, limit: PAGE, ...given({ since }) })
    const lines = rows.map((row) => `${JSON.stringify(describeEffect(row, caller))}\n`).join('')
    if (lines !== '' && !response.write(lines)) await once(response, 'drain', { signal }).catch(() => {})
    if (rows.length < PAGE) return
    beyond = rows.at(-1) ?? beyond
  }
}
