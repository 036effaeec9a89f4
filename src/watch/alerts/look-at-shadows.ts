import { createHash } from 'node:crypto'
import type { Look, Sighting } from '../../core/alerts/alert-book.ts'
import type { AlertRule } from '../../core/alerts/alert-rule.ts'
import type { Group } from '../../core/safety/differences/difference.ts'
import type { ReadStore } from '../../core/store/store.ts'

interface ShadowParts {
  store: Pick<ReadStore, 'listWorkflows' | 'listShadows'>
  /** Keys of the differences that the authors of a workflow want. Default: none. */
  readAccepted?: (workflow: string) => ReadonlySet<string>
}

/**
 * The differences of the newest shadow of each workflow that no look has seen. The position has
 * those that were seen; a new rule begins after them.
 */
export async function lookAtShadows(
  { store, readAccepted = () => new Set() }: ShadowParts,
  { workflow }: AlertRule,
  position: string | null,
  now: number,
): Promise<Look> {
  const ids = workflow === null ? (await store.listWorkflows()).map(({ id }) => id) : [workflow]
  const found = (await Promise.all(ids.map((id) => listDifferences(store, id, readAccepted(id))))).flat()
  const seen = new Set<string>(position === null ? found.map(({ id }) => id) : JSON.parse(position))
  const sightings = found
    .filter(({ id }) => !seen.has(id))
    .map(({ id, workflow: name, group }): Sighting => {
      const title = `the shadow of ${name} differs: ${describeGroup(group)}`
      const command = `backtest ${name} --shadow`
      return { id, title, page: `/workflows/${encodeURIComponent(name)}`, command, at: now, count: 1 }
    })
  return { sightings, position: JSON.stringify(found.map(({ id }) => id)) }
}

/** Each with an id that edited code does not share. */
async function listDifferences(store: ShadowParts['store'], workflow: string, accepted: ReadonlySet<string>) {
  const [newest] = await store.listShadows(workflow)
  if (newest === undefined) return []
  return newest.book.found.groups
    .filter(({ key }) => !accepted.has(key))
    .map((group) => {
      const id = createHash('sha256')
        .update(JSON.stringify([workflow, newest.code, group.key]))
        .digest('hex')
      return { id: id.slice(0, 24), workflow, group }
    })
}

/** Its names: words of an error may be content. */
function describeGroup({ changes }: Group): string {
  const names = changes.map(({ sign, class: kind, operation }) => `${sign} ${kind} ${operation}`.trim())
  return names.length === 0 ? 'others' : [...new Set(names)].join(', ').slice(0, 200)
}
