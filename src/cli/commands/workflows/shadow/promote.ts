import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import { acceptedFile, readAccepted } from '../../../../app/backtest/accepted-keys.ts'
import type { Backtest } from '../../../../app/backtest/backtest.ts'
import { UpshotError } from '../../../../core/errors.ts'
import type { Group } from '../../../../core/safety/difference.ts'
import { workflowFileOf } from '../../../../project/workflows/list-shadows.ts'
import type { Cli } from '../../../command.ts'
import { confirm } from '../../../terminal/confirm.ts'
import { formatNumber } from '../../safety/backtest/backtest-view.ts'
import { describeNothing, differencesOf, readShadow, type Shadow } from './read-shadow.ts'

/** `upshot workflows promote <id>`: its shadow takes the place of its module. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<id>', 'id of the workflow')
    .addHelpText('after', '\nRenames the file in the project. A deployment changes by deploying that.')
    .action((workflow) =>
      project.withReads(async (store, { workflowsDir }) => {
        const shadow = await readShadow(store, workflowsDir, workflow)
        const { module, workflowFile } = shadow
        const target = workflowFileOf(module.file)
        if (target !== workflowFile && existsSync(join(workflowsDir, workflowFile))) {
          throw describeOtherName(shadow, workflowFile)
        }
        const accepted = readAccepted(acceptedFile(workflowsDir, workflow))
        const found = differencesOf(shadow.book)
        const { runs, groups } = found
        const open = groups.filter(({ key }) => !accepted.has(key))
        const things = open.map(({ key, count }) => `${formatNumber(count)} runs: ${key}`)
        const said = describeNothing(shadow) ?? describeVerdict(found, open)
        const will = `put ${module.file} in the place of ${target}. ${said}`
        const isDone = await confirm(out, { will: will.replace(/\.$/, ''), things })
        if (isDone) renameSync(module.path, join(workflowsDir, target))
        const facts = { workflow, from: module.file, file: target, code: module.code, runs, dryRun: !isDone }
        out.result({ ...facts, differences: open.length }, () => [
          isDone
            ? `${target} is now what was ${module.file}.`
            : `${module.file} would take the place of ${target}. ${said}`,
        ])
        if (isDone) out.note('Deploy it, or run "upshot dev", which loads it at once.')
      }),
    )
}

/** Runs of which nothing can be said are never called the same. */
function describeVerdict({ runs, answered, groups }: Backtest, open: readonly Group[]): string {
  const all = runs === 1 ? 'its run' : `its ${formatNumber(runs)} runs`
  const rest = answered === runs ? '' : `; nothing can be said of ${formatNumber(runs - answered)}`
  if (groups.length === 0) return `Of ${all}, none is known to differ${rest}.`
  if (open.length === 0) return `Of ${all}, none is known to differ but as you have accepted${rest}.`
  const count = open.reduce((sum, each) => sum + each.count, 0)
  return `Of ${all}, ${formatNumber(count)} would differ${rest}.`
}

function describeOtherName({ module }: Shadow, workflowFile: string): UpshotError {
  const name = workflowFile.replace(/\.workflow\.([jt]s)$/, '.shadow.$1')
  return new UpshotError(
    'conflict',
    `${module.file} is not named as ${workflowFile} is, so both would define one id.`,
    {
      details: { fix: `Rename it to ${name}, and promote it then.` },
    },
  )
}
