import type { LoadedWorkflows, WorkflowRecord } from '../../../core/runs/workflow-record.ts'
import { Table } from '../../connection.ts'

type Loaded = LoadedWorkflows['workflows'][number]

/** A workflow as its rows have it. */
export type Known = Loaded & Pick<WorkflowRecord, 'loadedAt'>

/** A workflow that a worker has, with the number of its definition. */
interface Has {
  workflow: string
  definition: number
}

interface DefinitionRow {
  workflow: string
  number: number
  definition: string
}

/** The latest definitions of a workflow that stay when no worker has them any more. */
const KEPT = 5

/** The definition of each workflow that each worker has. See decision 39. */
export class DefinitionTable extends Table {
  // No index: a few workers with a few dozen workflows each.
  readonly #sets = this.db.prepare<[], Has & { worker: string }>(
    'SELECT worker, workflow, definition FROM worker_workflow',
  )
  readonly #definitions = this.db.prepare<[], DefinitionRow>(
    'SELECT workflow, number, definition FROM workflow_definition ORDER BY workflow, number',
  )
  // Index: primary key, down to the end.
  readonly #insert = this.db.prepare('INSERT INTO workflow_definition (workflow, number, definition) VALUES (?, ?, ?)')
  readonly #forget = this.db.prepare(
    `DELETE FROM workflow_definition WHERE workflow = ? AND number <= ? AND NOT EXISTS (
       SELECT 1 FROM worker_workflow AS own
       WHERE own.workflow = workflow_definition.workflow AND own.definition = number)`,
  )
  readonly #dropSet = this.db.prepare('DELETE FROM worker_workflow WHERE worker = ?')
  readonly #addToSet = this.db.prepare(
    'INSERT INTO worker_workflow (worker, workflow, definition) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  )

  /** The sets of workers in `living`, without `except`. */
  async listSets(living: readonly string[], except?: string): Promise<(Has & { worker: string })[]> {
    return (await this.#sets.all()).filter(({ worker }) => worker !== except && living.includes(worker))
  }

  async saveSet(worker: string, set: readonly Has[]): Promise<void> {
    await this.#dropSet.run(worker)
    for (const { workflow, definition } of set) await this.#addToSet.run(worker, workflow, definition)
  }

  /** Gives each definition its number: the one that it had before, or the next one. */
  async note(workflows: readonly Loaded[]): Promise<Has[]> {
    const known = Map.groupBy(await this.#definitions.all(), ({ workflow }) => workflow)
    return Array.fromAsync(workflows, async (each) => {
      const workflow = each.id
      const definition = writeDefinition(each)
      const rows = known.get(workflow) ?? []
      const same = rows.find((row) => row.definition === definition)
      if (same) return { workflow, definition: same.number }
      const number = (rows.at(-1)?.number ?? 0) + 1
      await this.#insert.run(workflow, number, definition)
      await this.#forget.run(workflow, number - KEPT)
      return { workflow, definition: number }
    })
  }

  /** Each workflow as the newest of its definitions in `sets` has it, on the event types of all. */
  async apply(workflows: readonly Known[], sets: readonly Has[]): Promise<Known[]> {
    const isHad = new Set(sets.map(({ workflow, definition }) => `${definition} ${workflow}`))
    const had = (await this.#definitions.all()).filter(({ workflow, number }) => isHad.has(`${number} ${workflow}`))
    const definitions = Map.groupBy(had, ({ workflow }) => workflow)
    return workflows.map((each) => {
      const all = (definitions.get(each.id) ?? []).map(({ definition }): Omit<Loaded, 'id'> => JSON.parse(definition))
      const newest = all.at(-1)
      if (newest === undefined) return each
      const { id, loadedAt } = each
      return { ...newest, id, loadedAt, eventTypes: all.flatMap(({ eventTypes }) => eventTypes) }
    })
  }
}

/** The same text for the same definition. */
export function writeDefinition({ file, eventTypes, schedule, input, priority, runTimeoutMs }: Loaded): string {
  return JSON.stringify({
    file,
    eventTypes: [...new Set(eventTypes)].sort(),
    schedule,
    input,
    priority: priority === 0 ? undefined : priority,
    runTimeoutMs,
  })
}
