import { resolve } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import type { DeploymentCheck, Misfit } from '../../../../app/play/check-deployment.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { formatFailure } from '../../../terminal/format-value.ts'
import { showProgress } from '../../../terminal/progress.ts'
import { type Column, formatTable } from '../../../terminal/table.ts'

/** `upshot deploys check`: the unfinished runs that the present code would not let go on. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .option('--workflow <id>', 'only runs of this workflow')
    .option('--workflows <folder>', 'the folder of the new code (default: that of the project)')
    .action(({ workflow, workflows }) =>
      project.withStore(async (store, config) => {
        // Loaded here, so that `--help` does not wait for them.
        const { openRoom } = await import('../../../../app/play/open-room.ts')
        const { checkDeployment } = await import('../../../../app/play/check-deployment.ts')
        await using room = await openRoom(store, config, {
          onPrint: (text) => out.detail(text.trimEnd()),
          ...(workflows === undefined ? {} : { workflowsDir: resolve(workflows) }),
        })
        using progress = showProgress(out, { title: 'Runs checked', total: null, unit: 'count' })
        const check = await checkDeployment(store, room, {
          ...(workflow === undefined ? {} : { workflow }),
          now: commandClock.now(),
          onChecked: (count) => progress.set(count),
        })
        const { broken } = room.code
        out.result({ ...check, broken: broken.map(({ file, error }) => ({ file, error })) }, () => [
          ...formatTable(check.misfits, COLUMNS, out),
          describeCount(check),
        ])
        for (const { file, error } of broken) out.note(`${file} cannot be loaded: ${formatFailure(error)}`)
        if (check.misfits.some(({ kind }) => kind !== 'keeps')) out.note(ADVICE)
        if (check.misfits.some(({ kind }) => kind === 'keeps')) out.note(KEPT_ADVICE)
        if (check.misfits.length > 0 || broken.length > 0) out.leaveWith('difference')
      }),
    )
}

const ADVICE =
  'Runs that do not fit would wait for a person. Keep their path with step.patched, or begin them anew after the ' +
  'deployment: upshot runs resume <id> --restart'

const KEPT_ADVICE =
  'An open wait keeps the event that it began with. To wait for the new one, give the step another name.'

const COLUMNS: Column<Misfit>[] = [
  { title: 'WORKFLOW', value: ({ workflow }) => workflow },
  { title: 'RUNS', value: ({ count }) => count, align: 'right' },
  { title: 'WOULD', value: ({ kind }) => WORDS[kind] },
  { title: 'WHY', value: ({ reason }) => reason, most: 200 },
  { title: 'SUCH AS', value: ({ runs }) => runs[0] ?? '', isId: true },
]

const WORDS: Record<Misfit['kind'], string> = {
  diverges: 'diverge',
  fails: 'fail',
  halts: 'wait',
  skips: 'be skipped',
  keeps: 'keep its wait',
}

function describeCount({ checked, fits }: DeploymentCheck): string {
  const runs = `${checked} unfinished ${checked === 1 ? 'run has' : 'runs have'} begun`
  const misfits = checked - fits
  if (checked === 0) return 'No unfinished run has begun: any code fits.'
  if (misfits === 0) return `${runs}, and ${checked === 1 ? 'it goes' : 'all go'} on with this code.`
  return `${runs}: ${fits} ${fits === 1 ? 'goes' : 'go'} on with this code, ${misfits} would not.`
}
