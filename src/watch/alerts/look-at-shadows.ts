import { createHash } from 'node:crypto'
import type { Look, Sighting } from '../../core/alerts/alert-book.ts'
import type { AlertRule } from '../../core/alerts/alert-rule.ts'
import type { Group } from '../../core/safety/differences.ts'

export interface ShadowBacktest {
  workflow: string
  code: string | null
  /** Those that its authors do not want. */
  groups: readonly Group[]
  /** Why it came to no end; null where it did. */
  error: string | null
}

/** The shadows that a rule is about, and the runs by the moment they were made. */
export interface ShadowStretch {
  rule: string
  workflow: string | null
  since: number
  until: number
}

/** Previews the runs with their shadows, aside. Null: they are still previewed; ask again. */
export type PreviewShadows = (
  stretch: ShadowStretch,
) => (Pick<ShadowStretch, 'until'> & { found: ShadowBacktest[] }) | null

/** Most runs have ended so long after they were made. */
export const SHADOW_BEHIND_MS = 5 * 60_000
const PERIOD_MS = 60_000
/** After a pause, more than one look goes through the time of it. */
const MAX_STRETCH_MS = 3_600_000
/** Differences that are remembered as told. */
const MAX_SEEN = 1_000

interface Position {
  until: number
  seen: string[]
}

/** Backtests of the runs of each minute with the shadows of their workflows. */
export async function lookAtShadows(
  { previewShadows }: { previewShadows: PreviewShadows },
  { name, workflow }: AlertRule,
  position: string | null,
  now: number,
): Promise<Look> {
  const latest = now - SHADOW_BEHIND_MS
  const { until: begun, seen }: Position = position === null ? { until: latest, seen: [] } : JSON.parse(position)
  // It is ahead where the clock was set back.
  const since = Math.min(begun, latest)
  const isDue = position !== null && latest - since >= PERIOD_MS
  const stretch = { rule: name, workflow, since, until: Math.min(latest, since + MAX_STRETCH_MS) }
  const previewed = isDue ? previewShadows(stretch) : null
  const known = new Set(seen)
  const sightings = (previewed?.found ?? []).flatMap((each) => describe(each, now)).filter(({ id }) => !known.has(id))
  const next = { until: previewed?.until ?? since, seen: [...seen, ...sightings.map(({ id }) => id)].slice(-MAX_SEEN) }
  return { sightings, position: JSON.stringify(next) }
}

/** Each difference has an id that edited code does not share. */
function describe({ workflow, code, groups, error }: ShadowBacktest, now: number): Sighting[] {
  const page = `/workflows/${encodeURIComponent(workflow)}`
  const about = { page, command: `backtest ${workflow} --shadow`, at: now, count: 1 }
  const idOf = (key: string) =>
    createHash('sha256')
      .update(JSON.stringify([workflow, code, key]))
      .digest('hex')
  const faults =
    error === null ? [] : [{ key: 'error', title: `the shadow of ${workflow} cannot be replayed: ${error}` }]
  const differences = groups.map((group) => ({
    key: group.key,
    title: `the shadow of ${workflow} differs: ${nameChanges(group)}`,
  }))
  return [...faults, ...differences].map(({ key, title }) => ({
    id: idOf(key).slice(0, 24),
    title: title.slice(0, 300),
    ...about,
  }))
}

/** Names alone: words of an error may be content. */
function nameChanges({ changes }: Group): string {
  const names = changes.map(({ sign, class: kind, operation }) => `${sign} ${kind} ${operation}`.trim())
  return names.length === 0 ? 'others' : [...new Set(names)].join(', ').slice(0, 200)
}
