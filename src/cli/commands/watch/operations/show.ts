import type { Command } from '@commander-js/extra-typings'
import type { AnswerOf } from '../../../../admin/contract/routes.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { call } from '../../../open/operations.ts'
import { formatMoment, formatText } from '../../../terminal/format-value.ts'

/** Refusals that are listed for a person. */
const SHOWN = 20

/** `upshot operations show <id>`: an operation, its progress, and why some were refused. */
export function define(command: Command, { out, project }: Cli): void {
  command.argument('<id>', 'id of the operation, opr_…, or its beginning').action((id) =>
    project.withOperations(async (operations) => {
      const answer = await call(operations, 'GET /operations/:id', { params: { id } })
      out.result(answer, () => describe(answer))
    }),
  )
}

function describe({ operation, refusals }: AnswerOf<'GET /operations/:id'>): string[] {
  const { id, kind, status, done, refused, total, runs, by, reason, createdAt, endedAt, isDryRun } = operation
  const now = commandClock.now()
  const filter = Object.entries(operation.filter).map(([name, value]) => `${name} ${formatText(String(value))}`)
  const makes = kind === 'replay' ? `, ${runs} new runs` : ''
  const why = reason === null ? '' : `: ${formatText(reason)}`
  return [
    `${id}  ${kind}${isDryRun ? ', counts only' : ''}  ${status}`,
    `  ${done} of ${total} done, ${refused} refused${makes}`,
    `  by ${by} ${formatMoment(createdAt, now)}${why}`,
    `  of ${filter.join(', ')}`,
    ...(endedAt === null ? [] : [`  over ${formatMoment(endedAt, now)}`]),
    ...refusals.slice(0, SHOWN).map(({ target, why }) => `  ${target}  ${why}`),
    ...(refused > SHOWN ? [`  … and ${refused - SHOWN} more`] : []),
  ]
}
