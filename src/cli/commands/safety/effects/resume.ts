import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../../core/errors.ts'
import { describeScope } from '../../../../core/safety/stop.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { confirm } from '../../../terminal/confirm.ts'
import { addScope, toScope } from './stop-scope.ts'

/** `upshot effects resume`: ends a stop and wakes the runs that it holds. */
export function define(command: Command, { out, project }: Cli): void {
  addScope(command).action((choice) =>
    project.withStore(async (store) => {
      const scope = toScope(choice)
      const what = describeScope(scope)
      if (out.given.dryRun) {
        await confirm(out, { will: `let ${what} go on` })
        return out.result({ ...scope, dryRun: true }, () => ['Nothing was resumed.'])
      }
      const woken = await store.resumeEffects(scope, { ...project.operator, now: commandClock.now() })
      if (woken === null) throw await describeMissing(await store.listStops(), what)
      out.result({ ...scope, woken }, () => [`Resumed ${what}; ${woken} runs go on.`])
    }),
  )
}

async function describeMissing(stops: readonly Parameters<typeof describeScope>[0][], what: string) {
  const known = stops.map(describeScope).join(', ')
  return new UpshotError('not_found', `No stop of ${what} is in force.`, {
    details: { fix: known === '' ? 'Nothing is stopped.' : `In force: ${known}.` },
  })
}
