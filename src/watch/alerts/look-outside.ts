import { createHash } from 'node:crypto'
import type { Look, Sighting } from '../../core/alerts/alert-book.ts'
import type { AlertRule } from '../../core/alerts/alert-rule.ts'
import type { EffectRecord } from '../../core/safety/effect.ts'
import { readAct } from '../../core/safety/ledger/outside-act.ts'
import type { ReadStore } from '../../core/store/store.ts'

/** Rows of one look; what is left comes with the next one. */
const MAX_ROWS = 1_000
/** A process may commit a row this long after the moment in it. */
const COMMIT_DELAY_MS = 3_000

/** Calls past the ledger since the row in `position`, by workflow, way and place in the code. */
export async function lookOutside(
  { store }: { store: Pick<ReadStore, 'listEffects'> },
  { workflow }: AlertRule,
  position: string | null,
  now: number,
): Promise<Look> {
  const until = now - COMMIT_DELAY_MS
  const [newest] = await store.listEffects({ until, limit: 1 })
  if (position === null) return { sightings: [], position: String(newest?.seq ?? 0) }
  const range = { after: Number(position), until, phases: ['noted'] as const, limit: MAX_ROWS }
  const rows = await store.listEffects({ ...range, ...(workflow !== null && { workflow }) })
  const last = rows.length < MAX_ROWS ? newest : rows.at(-1)
  return { sightings: rows.flatMap(sight), position: String(Math.max(Number(position), last?.seq ?? 0)) }
}

function sight(row: EffectRecord): Sighting[] {
  const act = readAct(row)
  if (act === null) return []
  const { seq, at, workflow, operation, outcome, proof } = row
  const id = createHash('sha256')
    .update(JSON.stringify([workflow, operation, outcome, proof]))
    .digest('hex')
  const title = `${workflow ?? 'a module'} calls ${act}`
  const page = workflow === null ? '/effects' : `/effects?workflow=${encodeURIComponent(workflow)}`
  return [{ id: id.slice(0, 24), title, page, command: `effects show ${seq}`, at, count: 1 }]
}
