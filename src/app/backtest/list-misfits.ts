import { describeError } from '../../core/errors.ts'
import { requireFit } from '../../core/service/require-fit.ts'
import type { ReadStore } from '../../core/store/store.ts'
import type { LoadedCode } from '../preview/isolated-process.ts'

/** A schedule whose runs would fail with the new code. */
interface Misfit {
  schedule: string
  workflow: string
  why: string
}

const PAGE = 500

/** The schedules of people and of code that the workflows of an isolated process would not take. */
export async function listMisfits(
  store: Pick<ReadStore, 'listSchedules'>,
  { workflows }: Pick<LoadedCode, 'workflows'>,
  workflow: string | undefined,
): Promise<Misfit[]> {
  const inputs = new Map(workflows.map(({ id, input }) => [id, input]))
  const misfits: Misfit[] = []
  for (let after = ''; ; ) {
    const query = { limit: PAGE, after, ...(workflow === undefined ? {} : { workflow }) }
    const page = await store.listSchedules(query)
    for (const { name, owner, workflow: id, input, plan, doneAt } of page) {
      if (id === null || owner === 'module' || plan.kind === 'backfill' || doneAt !== null) continue
      const why = findFault(id, inputs.get(id), JSON.parse(input ?? 'null'))
      if (why !== null) misfits.push({ schedule: name, workflow: id, why })
    }
    const last = page.at(-1)
    if (page.length < PAGE || last === undefined) return misfits
    after = last.id
  }
}

/** `schema`: undefined where no module has the workflow, null where it is not callable. */
function findFault(id: string, schema: LoadedCode['workflows'][number]['input'] | undefined, input: unknown) {
  if (schema === undefined) return `no module has the workflow "${id}"`
  if (schema === null) return `the workflow "${id}" is not callable`
  try {
    requireFit({ id, input: schema }, input)
    return null
  } catch (error) {
    return describeError(error).message
  }
}
