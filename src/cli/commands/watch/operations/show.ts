import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../../core/errors.ts'
import type { BulkOperation, BulkRefusal } from '../../../../core/safety/bulk.ts'
import type { ReadStore } from '../../../../core/store/store.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { resolveId } from '../../../open/resolve-id.ts'
import { formatMoment, formatText, withIsoTimes } from '../../../terminal/format-value.ts'

/** Refusals that are listed for a person. */
const SHOWN = 20

/** `upshot operations show <id>`: an operation, its progress, and why some were refused. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<id>', 'id of the operation, opr_…, or its beginning').action((id) =>
    project.withStore(async (store) => {
      const operation = await requireOperation(store, id)
      const refusals = await store.listBulkRefusals(operation.id)
      out.result({ ...withIsoTimes(operation), refusals }, () => describe(operation, refusals))
    }),
  )
}

/** The operation with this id, or with the only id that begins so; throws `not_found`. */
export async function requireOperation(
  store: Pick<ReadStore, 'findBulk' | 'listBulks'>,
  id: string,
): Promise<BulkOperation> {
  const operation = await resolveId(id, {
    prefix: 'opr_',
    find: (whole) => store.findBulk(whole),
    async list(beginning, limit) {
      // `{` sorts after every digit of an id.
      const newest = await store.listBulks({ limit, before: `${beginning}{` })
      return newest.map((each) => each.id).filter((each) => each.startsWith(beginning))
    },
  })
  if (operation) return operation
  throw new UpshotError('not_found', `There is no operation ${id}.`, {
    details: { fix: 'List them with "upshot operations list".' },
  })
}

function describe(operation: BulkOperation, refusals: readonly BulkRefusal[]): string[] {
  const { id, kind, status, done, refused, count, operator, createdAt, endedAt, isDryRun } = operation
  const now = commandClock.now()
  const filter = Object.entries(operation.filter).map(([name, value]) => `${name} ${formatText(String(value))}`)
  const makes = kind === 'replay' ? `, ${count.runs} new runs` : ''
  const why = operator.reason === null ? '' : `: ${formatText(operator.reason)}`
  return [
    `${id}  ${kind}${isDryRun ? ', counts only' : ''}  ${status}`,
    `  ${done} of ${count.total} done, ${refused} refused${makes}`,
    `  by ${operator.actor} ${formatMoment(createdAt, now)}${why}`,
    `  of ${filter.join(', ')}`,
    ...(endedAt === null ? [] : [`  over ${formatMoment(endedAt, now)}`]),
    ...refusals.slice(0, SHOWN).map(({ target, why }) => `  ${target}  ${why}`),
    ...(refused > SHOWN ? [`  … and ${refused - SHOWN} more`] : []),
  ]
}
